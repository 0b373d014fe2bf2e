"""Produce requests: from a body to the brokers and back."""
