"""`magicbyte generate`."""
