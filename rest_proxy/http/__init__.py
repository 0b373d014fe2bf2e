"""The HTTP face of the REST proxy: v2, v1 and the operational routes."""
