"""Access rules: Kafka's ACL model, extended by subjects and the registry."""
