"""Example data that show an incompatibility of Avro schemas."""
