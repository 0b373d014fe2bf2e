"""Quality: the checks of a pipeline, all evaluated in one pass over a batch."""
