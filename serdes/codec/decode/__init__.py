"""Decoders: plans, generated source, and the walk that explains."""
