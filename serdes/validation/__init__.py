"""Validation by JSON Schema: one validator for serializers, the REST proxy, the console tools and Spark.

jsonschema-rs decides. When it refuses, jsonschema explains, within a bound on its work. A schema and value that might
take long are decided in a worker process, which is killed if they do.
"""

from __future__ import annotations

from serdes.validation.refusal import Refusal, ValueRefused
from serdes.validation.validator import JsonValidator

__all__ = ["JsonValidator", "Refusal", "ValueRefused"]
