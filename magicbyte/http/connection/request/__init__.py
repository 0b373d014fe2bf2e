"""One request: its head, its scope, and its exchange with the application."""
