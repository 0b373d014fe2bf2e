"""`.proto` files as texts: tokens, trees, and printing."""
