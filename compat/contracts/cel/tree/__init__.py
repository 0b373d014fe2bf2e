"""The tree of a checked expression: its classes, what it reads, and its types."""
