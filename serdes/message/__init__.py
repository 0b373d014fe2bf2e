"""Serializes data to messages and deserializes messages, for all schema types."""
