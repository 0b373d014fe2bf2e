"""Messages that show an incompatibility of `.proto` files."""
