"""PySpark functions and pipelines for Confluent-format data."""
