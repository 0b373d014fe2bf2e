"""`magicbyte config`: the reference of settings, and checks of them without a server."""
