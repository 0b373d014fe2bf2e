"""The pipeline file: YAML with positions, one table of settings, and what is checked without Spark."""
