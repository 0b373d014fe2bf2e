"""The commands of declared pipelines."""
