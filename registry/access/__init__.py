"""What a principal may do in the registry, and which subjects it can see."""
