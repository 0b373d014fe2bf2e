"""Handles records that cannot be processed: the dead letters of a pipeline, and when it stops instead."""
