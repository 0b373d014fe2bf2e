"""Columns of Protobuf."""
