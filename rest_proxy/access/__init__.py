"""Access control: the rights of a principal, the rules of v3's endpoints, and the endpoints that are served."""
