"""Columns of JSON Schema."""
