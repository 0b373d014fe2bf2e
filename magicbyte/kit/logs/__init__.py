"""Logs: one JSON object or one line of text for each event, with the request that caused it."""
