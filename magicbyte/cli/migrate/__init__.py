"""`magicbyte migrate`: what a migration has to know before it begins."""
