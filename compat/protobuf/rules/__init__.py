"""The rules of Protobuf, and what they are asked about."""
