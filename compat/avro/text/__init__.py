"""Avro schemas as texts: read strictly, printed as Java prints."""
