"""Kafka REST proxy."""
