"""The compatibility rules of Avro, the pairing of types, and the cautions."""
