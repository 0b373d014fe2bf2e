"""Connections: accepted, bounded, and spoken to in HTTP/1.1."""
