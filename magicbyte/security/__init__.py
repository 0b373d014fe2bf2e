"""Who may reach the servers and do what: TLS, sign-in, access rules."""
