"""Documents that show an incompatibility of JSON Schemas."""
