"""Registering a schema, and finding one that is registered: sent, completed, candidate, version."""
