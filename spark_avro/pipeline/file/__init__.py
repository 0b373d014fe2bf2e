"""The pipeline file: YAML with positions, one table of settings, and the checks that need no Spark."""
