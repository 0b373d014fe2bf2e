"""Encoders: generated source, and the walk that explains."""
