"""Protobuf files linked with their imports."""
