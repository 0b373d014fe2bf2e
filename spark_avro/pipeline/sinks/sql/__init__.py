"""Tables of PostgreSQL and SQLite: each batch and its marker are written in one transaction."""
