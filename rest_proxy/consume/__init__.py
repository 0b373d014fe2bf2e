"""Consumers: instances with their groups, stateless reads, and records as JSON."""
