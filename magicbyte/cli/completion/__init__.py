"""`magicbyte completion`: scripts that let shells complete commands, from the commands' own parsers."""
