"""`magicbyte groups`: lists, describes, resets and deletes consumer groups."""
