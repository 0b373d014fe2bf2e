"""The HTTP layer that both servers are built on."""
