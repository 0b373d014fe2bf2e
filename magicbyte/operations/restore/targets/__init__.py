"""Targets of restores: registries over HTTP, topics and databases."""
