"""Sources: each gives rows with `_kafka`, as a stream or as a batch."""
