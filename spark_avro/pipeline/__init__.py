"""Declared pipelines: a YAML file with a source, steps and a sink, run by Structured Streaming."""
