"""Pipelines with steps that remember rows: one plan of Spark's for the whole stream, whose state Spark keeps."""
