"""TLS of the servers: keys and certificates from settings, the SSL contexts for them, and their replacement."""
