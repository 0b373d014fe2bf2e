"""Kafka client settings with Java's names, SASL, and dead letters."""
