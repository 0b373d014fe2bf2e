"""Makes descriptors from trees, and trees from descriptors."""
