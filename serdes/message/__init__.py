"""Messages: between data and bytes, whatever the schema's type."""
