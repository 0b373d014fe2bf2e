"""The log port and its adapters."""
