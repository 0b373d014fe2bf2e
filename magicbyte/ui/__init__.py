"""The page: the registry in the browser, served beside the registry or by `magicbyte ui` in front of any registry."""
