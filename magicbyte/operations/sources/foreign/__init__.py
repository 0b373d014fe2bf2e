"""Registries of other vendors, read through Confluent's API."""
