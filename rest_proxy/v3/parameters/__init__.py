"""The parameters that endpoints of v3 declare: how each is read, and how openapi/rest-proxy-v3.yaml describes it."""
