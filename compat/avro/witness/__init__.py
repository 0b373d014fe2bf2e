"""Data that show an incompatibility of Avro schemas."""
