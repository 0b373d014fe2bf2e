"""From the configuration of a Kafka Connect sink to a pipeline file."""
