"""The parameters that endpoints of v2 declare: how each is read, and how openapi/rest-proxy-v2.yaml describes it."""
