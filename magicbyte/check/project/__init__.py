"""A project's files, and the references between them."""
