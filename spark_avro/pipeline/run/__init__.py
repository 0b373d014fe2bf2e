"""A run of a pipeline: its batches one by one, its lease and what it reports."""
