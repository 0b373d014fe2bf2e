"""The `magicbyte` command."""
