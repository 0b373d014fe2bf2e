"""The HTTP kit that both servers are built with."""
