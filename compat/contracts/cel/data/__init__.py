"""Data on their way into the engine and out of it."""
