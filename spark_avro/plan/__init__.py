"""Columns of Avro: planned on the driver, computed by the JVM."""
