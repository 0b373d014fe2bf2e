"""Access rules: Kafka's ACL model, with subjects and the registry beside topics and groups."""
