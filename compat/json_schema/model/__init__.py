"""The model in which JSON Schemas are compared."""
