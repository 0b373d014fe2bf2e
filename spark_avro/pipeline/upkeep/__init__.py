"""Upkeep of what a pipeline wrote: ranges are processed again, and small files become large ones."""
