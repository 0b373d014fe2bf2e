"""Properties whose values know their places: those of a .properties file, and those of environment variables."""

from __future__ import annotations

from pathlib import Path

from magicbyte.kit.environment import variables_of_properties
from magicbyte.kit.properties_file import read_property_lines
from magicbyte.kit.settings.place import Place, PlacedText


def properties_of_file(path: Path) -> dict[str, str]:
    """The properties of a file; the place of each is the file and its line.

    Raises:
        OSError, UnicodeDecodeError: The file cannot be read.
    """
    lines = read_property_lines(path)
    return {name: PlacedText(value, Place(str(path), line)) for name, (value, line) in lines.items()}


def properties_of_environment(prefix: str) -> dict[str, str]:
    """The properties of the variables with a prefix; the place of each is its variable."""
    variables = variables_of_properties(prefix)
    return {name: PlacedText(value, Place(variable)) for name, (value, variable) in variables.items()}
