"""Validation rules that stand in schemas: `confluent:rules` of Avro and JSON, `rules` of Protobuf's meta options."""
