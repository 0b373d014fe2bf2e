"""`magicbyte check`: schema files of a repository against what was there before, offline unless a registry is named."""
