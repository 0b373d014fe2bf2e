"""Connections of clients: acceptance, limits, and the HTTP/1.1 protocol."""
