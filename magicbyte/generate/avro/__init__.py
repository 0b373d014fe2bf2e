"""Classes of Avro schemas."""
