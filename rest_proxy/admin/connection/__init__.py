"""Connections to the brokers, and the settings that they are made from."""
