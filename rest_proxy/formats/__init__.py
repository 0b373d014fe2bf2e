"""The embedded formats, and the schemas of those that have one."""
