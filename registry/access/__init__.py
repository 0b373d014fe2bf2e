"""What a principal may do in the registry, and what of it they see."""
