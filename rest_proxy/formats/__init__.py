"""The embedded formats and their schemas."""
