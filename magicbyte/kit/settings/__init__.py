"""Settings: one reader, one form of error, and the reference and the JSON Schema, for files and for properties.

A dataclass (`section.py`) is the table: its fields are rows (`Setting`), each with a kind (`kinds.py`, `compound.py`).
The reader takes nodes (`nodes.py`), which know their places; YAML, TOML and mappings of Python are read into nodes.
`generated.py` makes the reference and the JSON Schema. Servers use pydantic (`server.py`), with the same errors.
"""

from magicbyte.kit.settings.place import SettingsError

__all__ = ["SettingsError"]
