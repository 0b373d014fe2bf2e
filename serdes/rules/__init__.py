"""Rules and metadata that a registry attaches to schemas."""
