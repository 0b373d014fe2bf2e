"""Streams that follow new schema versions."""
