"""A principal's rights in the registry, and the subjects that it can see."""
