"""The HTTP routes of the REST proxy: v2, v1 and operations."""
