"""Topics and consumer groups of a Kafka cluster, over librdkafka's admin client: the core dependencies suffice."""
