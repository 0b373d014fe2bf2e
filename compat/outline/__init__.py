"""What a schema declares, as a tree that people read; and how two such trees differ."""
