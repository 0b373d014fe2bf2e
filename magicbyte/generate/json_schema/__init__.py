"""Classes of JSON Schemas."""
