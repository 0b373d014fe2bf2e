"""The registry's endpoints as flows."""
