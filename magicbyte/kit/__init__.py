"""Helpers that all packages use: settings, errors, logs, processes, and Kafka client configuration."""
