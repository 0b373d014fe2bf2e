"""Compatibility: schema texts in, parsed schemas and the differences between them out; pure."""
