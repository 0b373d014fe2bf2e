"""Requests to the Kafka cluster about topics, partitions and offsets."""
