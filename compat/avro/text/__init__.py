"""The texts of Avro schemas: strict parsing, and printing as Java prints."""
