"""The functions that rules have beside those of CEL and of its extensions for text and numbers."""
