"""Serializers and deserializers for the Confluent wire format, and the registry client."""
