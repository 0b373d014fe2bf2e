"""Clients of a schema registry."""
