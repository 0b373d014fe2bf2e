"""Compatibility, without I/O: parses schema texts and lists the differences between schemas."""
