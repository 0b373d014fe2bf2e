"""Descriptors from trees, and trees from descriptors."""
