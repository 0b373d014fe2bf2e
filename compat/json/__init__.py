"""JSON as schema texts use it."""
