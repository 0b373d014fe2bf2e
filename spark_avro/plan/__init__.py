"""Columns of Avro by the JVM: planned on the driver."""
