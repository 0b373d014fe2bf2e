"""A run of a pipeline: its parts opened, its batches one by one, its lease and what it reports."""
