"""`magicbyte check`: checks schema files against earlier versions, offline unless a registry is named."""
