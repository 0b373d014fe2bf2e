"""The rules of Avro, and what they are asked about."""
