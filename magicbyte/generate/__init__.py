"""Writes Python modules with typed records from schemas: the engine of `magicbyte generate`."""
