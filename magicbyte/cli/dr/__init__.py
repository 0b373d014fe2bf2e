"""The command `magicbyte dr`."""
