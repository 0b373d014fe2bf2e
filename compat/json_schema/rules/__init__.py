"""The rules of JSON Schema."""
