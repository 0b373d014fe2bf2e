"""The command `magicbyte check`, whose engine is `magicbyte/check/`."""
