"""JSON Schemas as the model that they are compared in."""
