"""HTTP routers of the registry, one for each noun."""
