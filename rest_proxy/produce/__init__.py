"""Produce requests: from the request body to the brokers and back."""
