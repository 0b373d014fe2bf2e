"""The declarations of a schema as a tree for people, and the differences between two such trees."""
