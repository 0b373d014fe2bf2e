"""Access to the servers: TLS, sign-in and access rules."""
