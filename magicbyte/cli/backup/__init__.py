"""`magicbyte backup`: a registry as a file."""
