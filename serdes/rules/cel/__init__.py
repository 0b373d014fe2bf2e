"""Executors of CEL and CEL_FIELD."""
