"""Streams that follow the schema."""
