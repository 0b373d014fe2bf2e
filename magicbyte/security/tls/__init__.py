"""TLS of the servers: keys and certificates from settings, contexts made of them, and their replacement."""
