"""Columns of Protobuf messages."""
