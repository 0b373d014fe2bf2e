"""Properties whose values know their places: those of a .properties file, and those of environment variables."""

from __future__ import annotations

import logging
from pathlib import Path

from magicbyte.kit.environment import variables_of_properties
from magicbyte.kit.properties_file import read_property_lines
from magicbyte.kit.settings.place import Place, PlacedText, place_of

log = logging.getLogger("magicbyte.settings")


def properties_of_file(path: Path) -> dict[str, str]:
    """The properties of a file, each with its file and line as the place; of a repeated name, the last one counts.

    Raises:
        OSError, UnicodeDecodeError: The file cannot be read.
    """
    properties: dict[str, str] = {}
    for name, value, line in read_property_lines(path):
        place = Place(str(path), line)
        earlier = properties.get(name)
        if earlier is not None:
            log.warning(
                "%s: %s repeats the property of %s, whose value is not used",
                name,
                place,
                place_of(earlier),
                extra={"event": "property_repeated", "property": name},
            )
        properties[name] = PlacedText(value, place)
    return properties


def properties_of_environment(prefix: str) -> dict[str, str]:
    """The properties of the variables with a prefix; the place of each is its variable."""
    variables = variables_of_properties(prefix)
    return {name: PlacedText(value, Place(variable)) for name, (value, variable) in variables.items()}
