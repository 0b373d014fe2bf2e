"""The shared kit, the HTTP layer, the local platform and the command line."""

__version__ = "0.2.0"
