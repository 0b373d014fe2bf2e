"""Validation by JSON Schema: one validator for serializers, the REST proxy, the console tools and Spark.

jsonschema-rs decides. If it refuses a value, jsonschema explains the refusal within a limit of work. A schema and value
that might take long are handled in a worker process, which is killed if they do.

This package imports nothing itself: who only catches a refusal needs no validator.
"""
