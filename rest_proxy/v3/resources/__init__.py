"""The handlers of version 3, by resource."""
