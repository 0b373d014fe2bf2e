"""Records: producing, reading and deleting them."""
