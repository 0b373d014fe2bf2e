"""Kinds of settings that serializers and clients share, and the reading of one value by its kind.

A value may be a text even if it stands for a number or a truth value, as in files of properties.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar
from uuid import UUID

from msgspec.structs import replace

from magicbyte.kit.settings.kinds import Kind, Reading, Scalar, choice, flag, real, text, whole
from magicbyte.kit.settings.nodes import BROKEN, Entry, MapNode, value_node
from magicbyte.kit.settings.patterns import java_classes
from magicbyte.kit.settings.place import NOWHERE, Finding, place_of
from magicbyte.kit.settings.section import Section, read_section
from serdes.error import ConfigError

S = TypeVar("S", bound=Section)

BOOLEAN = flag()
INTEGER = whole(None)
NUMBER = real()
TEXT = text(numbers=False)
ANY = Scalar("a value", {}, shapes=(object,))


def typed(kind: Kind, name: str, value: Any) -> Any:
    """A value by its kind.

    Raises:
        ConfigError: it is not of this kind.
    """
    reading = Reading(parses=True)
    result = kind.read(value_node(value, place_of(value)), reading, name)
    if result is BROKEN:
        raise _config_error(reading.findings)
    return result


def read_settings(
    section: type[S], settings: Mapping[str, Any], unknown: str, *, also: Iterable[str], **fields: Any
) -> S:
    """The section of settings by name; the arguments are those of `read_section`.

    Args:
        section: The dataclass.
        settings: The settings.
        unknown: What is wrong with a name that is no setting.
        also: Names that are settings too, but are read elsewhere.
        fields: Fields of the section that are no settings.

    Raises:
        ConfigError: a name is unknown, or a value is wrong.
    """
    reading = Reading(unknown=unknown, parses=True)
    entries = {name: Entry(place_of(value), value_node(value, place_of(value))) for name, value in settings.items()}
    node = MapNode(NOWHERE, dict(sorted(entries.items())))
    read = read_section(section, node, reading, also=also, **fields)
    if isinstance(read, section):
        return read
    raise _config_error(reading.findings)


def _config_error(findings: list[Finding]) -> ConfigError:
    """The error of findings: the first names the setting, and the others follow it."""
    first, *others = findings
    return ConfigError(first.path, "; ".join((first.problem, *map(str, others))), str(first.place))


@contextmanager
def placing(settings: Mapping[str, Any]) -> Iterator[None]:
    """Give an error the place of its setting, if the setting's value knows it."""
    try:
        yield
    except ConfigError as error:
        error.place = error.place or str(place_of(settings.get(error.name)))
        raise


def converted(kind: Scalar, convert: Callable[[Any], Any]) -> Scalar:
    """A kind whose values another function converts further; it raises ValueError for a wrong value."""
    return replace(kind, convert=lambda value: convert(kind.convert(value)))


def schema_id() -> Scalar:
    """A schema id; -1 means none, as in Java."""
    return converted(INTEGER, lambda number: None if number == -1 else number)


def guid() -> Scalar:
    """A schema's guid."""
    return converted(replace(TEXT, label="a guid"), lambda value: str(UUID(value)))


def pairs() -> Scalar:
    """A mapping of texts to texts, also as `key=value,key=value`."""

    def convert(value: Any) -> dict[str, str]:
        if isinstance(value, str):
            value = dict(item.partition("=")[::2] for item in value.split(",") if item)
        if not isinstance(value, Mapping) or not value:
            raise ValueError
        return {str(key): str(item) for key, item in value.items()}

    return Scalar("a mapping of property names to values", {"type": ["object", "string"]}, convert, (str, Mapping))


def one_of(**choices: str) -> Scalar:
    """A choice: by its name, by the name of Java's class, or as confluent-kafka's function."""

    def spell(value: Any) -> str:
        spelled = value if isinstance(value, str) else getattr(value, "__name__", repr(value))
        short = spelled.rpartition(".")[2]
        return next((choice for choice, names in choices.items() if short in names.split()), short)

    classes = [name for names in choices.values() for name in names.split()]
    schema = java_classes([*choices, *classes])
    return replace(choice(*choices, spell=spell), shapes=(object,), schema=schema)
