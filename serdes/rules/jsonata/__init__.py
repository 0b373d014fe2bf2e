"""The executor JSONATA: bounded expressions on JSON documents of messages."""
