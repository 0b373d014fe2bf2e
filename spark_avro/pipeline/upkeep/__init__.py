"""Upkeep of a pipeline's targets: ranges are processed again, and small files become large ones."""
