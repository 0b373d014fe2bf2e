"""The command `magicbyte mirror`."""
