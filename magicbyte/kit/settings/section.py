"""Sections of settings: frozen dataclasses whose fields are the rows of the table of settings."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field
from typing import Any, TypeVar, dataclass_transform

import msgspec
from msgspec import Struct

from magicbyte.kit.settings.kinds import Kind, Reading, join_path
from magicbyte.kit.settings.nodes import BROKEN, UNRESOLVED, Entry, MapNode, Node, ScalarNode
from magicbyte.kit.settings.place import NOWHERE, Finding, FindingsError, Place, did_you_mean, nearest, nearest_inside

_KEY = "magicbyte.setting"


class Setting(Struct, frozen=True):
    """A row of the table of settings.

    Attributes:
        names: The names; the first is shown, and of those that are given, the first counts.
        field: The name in the dataclass.
        kind: What the setting takes, with its unit.
        help: One sentence for the reference.
        default: The default; MISSING if the setting is required.
        default_words: The default in words, if its value does not tell it.
    """

    names: tuple[str, ...]
    field: str
    kind: Kind
    help: str
    default: Any
    default_words: str | None

    @property
    def name(self) -> str:
        """The name to show."""
        return self.names[0]

    @property
    def required(self) -> bool:
        """Whether it has to be given."""
        return self.default is MISSING


def setting(
    kind: Kind,
    help: str = "",  # noqa: A002 - the column of the reference
    *names: str,
    default: Any = MISSING,
    default_words: str | None = None,
    secret: bool = False,
) -> Any:
    """A field of a section: a row of the table of settings.

    Args:
        kind: What it takes.
        help: One sentence for the reference.
        names: The names in the file; by default, the field's with `-` for `_`.
        default: The value if it is not given; without it, the setting is required.
        default_words: The default in the reference, if its value does not tell it.
        secret: Whether the value may hold secrets, and stays out of the section's repr.
    """
    metadata = {_KEY: (names, kind, help, default_words)}
    if isinstance(default, dict):
        return field(default_factory=lambda: dict(default), metadata=metadata, repr=not secret, kw_only=True)
    return field(default=default, metadata=metadata, repr=not secret, kw_only=True)


class Origin(Struct, frozen=True):
    """The position of a section in the file.

    Attributes:
        setting: The path of its setting, such as `sink.files`.
        place: The position.
        places: The positions of its values by setting name.
    """

    setting: str = ""
    place: Place = NOWHERE
    places: Mapping[str, Place] = msgspec.field(default_factory=dict)


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field, setting))
@dataclass(frozen=True, kw_only=True)
class Section:
    """A section: its values, and its origin in the file; its subclasses are frozen dataclasses too."""

    origin: Origin = field(default=Origin(), compare=False, repr=False)

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)

    def problems(self) -> Iterable[tuple[str, str] | Finding]:
        """Problems between settings that are valid one by one: a setting's name (or "") and the problem.

        A problem of a section inside of this one is a finding of that section.
        """
        return ()

    def at(self, name: str) -> Place:
        """The place of a setting's value, or of the section if it is not given."""
        return self.origin.places.get(name, self.origin.place)

    def finding(self, name: str, problem: str) -> Finding:
        """A finding at a setting's value."""
        return Finding(self.at(name), join_path(self.origin.setting, name), problem)

    def error(self, name: str, problem: str) -> FindingsError:
        """An error at a setting's value."""
        return FindingsError([self.finding(name, problem)])


S = TypeVar("S", bound=Section)


#: Section -> its rows, once they were asked for.
_ROWS: dict[type[Section], list[Setting]] = {}


def settings_of(section: type[Section]) -> list[Setting]:
    """The rows of a section, in the order of the file."""
    if section not in _ROWS:
        _ROWS[section] = list(_rows(section))
    return _ROWS[section]


def _rows(section: type[Section]) -> Iterator[Setting]:
    for item in dataclasses.fields(section):
        if _KEY in item.metadata:
            names, kind, text, words = item.metadata[_KEY]
            default = item.default if item.default_factory is MISSING else item.default_factory()
            yield Setting(names or (item.name.replace("_", "-"),), item.name, kind, text, default, words)


def written(section: Section) -> dict[str, Any]:
    """The values of a section that are set, as a file has them."""
    values = ((row, getattr(section, row.field)) for row in settings_of(type(section)))
    return {row.name: row.kind.written(value) for row, value in values if value not in (None, (), {})}


class Nested(Kind):
    """A section. With `short`, a value that is not a mapping is the value of this one setting."""

    section: type[Section]
    short: str | None = None
    label: str = "a mapping"

    @property
    def words(self) -> str:
        return self.label if self.short is None else f"{self._short().kind.words}, or {self.label}"

    def takes(self, node: Node) -> bool:
        return isinstance(node, MapNode) or (self.short is not None and self._short().kind.takes(node))

    def read(self, node: Node, reading: Reading, path: str) -> Any:
        if self.short is not None and not isinstance(node, MapNode):
            return _read_alone(self.section, self._short(), self.short, node, reading, path)
        if isinstance(node, ScalarNode) and node.value is UNRESOLVED:
            return BROKEN
        if isinstance(node, ScalarNode) and node.value is None:
            node = MapNode(node.place, {})
        if not isinstance(node, MapNode):
            return self.wrong(node, reading, path)
        return read_section(self.section, node, reading, path)

    def json_schema(self) -> dict[str, Any]:
        whole = section_schema(self.section)
        return whole if self.short is None else {"anyOf": [self._short().kind.json_schema(), whole]}

    def written(self, value: Any) -> Any:
        values = written(value)
        if self.short is None:
            return values
        others = (row for row in settings_of(self.section) if row.name != self.short)
        is_alone = all(getattr(value, row.field) == row.default for row in others)
        return values[self.short] if is_alone else values

    def _short(self) -> Setting:
        return next(row for row in settings_of(self.section) if row.name == self.short)


class Wrapped(Kind):
    """A section of one setting, whose value is written without the setting's name: `where: delay > 15`."""

    section: type[Section]

    @property
    def row(self) -> Setting:
        """The setting."""
        return settings_of(self.section)[0]

    @property
    def words(self) -> str:
        return self.row.kind.words

    def takes(self, node: Node) -> bool:
        return self.row.kind.takes(node)

    def read(self, node: Node, reading: Reading, path: str) -> Any:
        return _read_alone(self.section, self.row, "", node, reading, path)

    def json_schema(self) -> dict[str, Any]:
        return {"description": self.row.help, **self.row.kind.json_schema()}


def _read_alone(section: type[S], row: Setting, name: str, node: Node, reading: Reading, path: str) -> Any:
    """The section of one setting, whose node is the setting's value."""
    before = reading.unresolved
    value = row.kind.read(node, reading, path)
    if value is BROKEN:
        return BROKEN
    return _checked(section, {row.field: value}, Origin(path, node.place, {name: node.place}), reading, before)


def read_section(
    section: type[S], node: MapNode, reading: Reading, path: str = "", *, also: Iterable[str] = (), **fields: Any
) -> Any:
    """The section of a mapping, with all settings checked; BROKEN after findings.

    Args:
        section: The dataclass.
        node: The mapping.
        reading: Takes the findings.
        path: The path of the section's setting.
        also: Names that are settings too, but are read elsewhere.
        fields: Fields of the section that are no settings.
    """
    before = reading.unresolved
    rows = {name: row for row in settings_of(section) for name in row.names}
    values: dict[str, Any] = {}
    broken = False
    for key, entry in node.entries.items():
        row = rows.get(key)
        if row is None:
            inside = {name: _names_inside(row) for name, row in rows.items()} if "." in key else {}
            hint = nearest_inside(key, inside) or did_you_mean(key, (*rows, *also))
            reading.report(entry.key, join_path(path, key), f"{reading.unknown}{hint}")
            broken = True
        elif next(name for name in row.names if name in node.entries) == key:
            values[row.field] = row.kind.read(entry.node, reading, join_path(path, key))
    for row in settings_of(section):
        if row.required and row.field not in values and not _misspelt(row.name, node, rows):
            reading.report(node.place, join_path(path, row.name), f"is missing: {row.help}")
            broken = True
    if broken or any(value is BROKEN for value in values.values()):
        return BROKEN
    return _checked(section, values | fields, Origin(path, node.place, _places(node.entries)), reading, before)


def _names_inside(row: Setting) -> list[str]:
    """The names of the settings of the sections in a setting."""
    return [name for _, section in subsections(row.kind, "") for inner in settings_of(section) for name in inner.names]


def _misspelt(name: str, node: MapNode, rows: Mapping[str, Setting]) -> bool:
    """Whether an unknown key is probably a misspelt required setting, so that one finding is enough."""
    return any(nearest(key, rows) == f"; did you mean {name}?" for key in node.entries if key not in rows)


def _checked(section: type[S], values: dict[str, Any], origin: Origin, reading: Reading, before: int) -> Any:
    """The section with its problems reported; `before` is how many settings were UNRESOLVED before the section."""
    made = section(**values, origin=origin)
    if reading.unresolved > before:
        # Its values cannot be compared.
        return made
    findings = [item if isinstance(item, Finding) else made.finding(*item) for item in made.problems()]
    reading.findings += findings
    return BROKEN if findings else made


def _places(entries: Mapping[str, Entry]) -> dict[str, Place]:
    return {key: entry.node.place for key, entry in entries.items()}


def section_schema(section: type[Section]) -> dict[str, Any]:
    """A section in JSON Schema."""
    rows = settings_of(section)
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: {"description": row.help, **row.kind.json_schema()} for row in rows for name in row.names},
        "additionalProperties": False,
    }
    required = [row.name for row in rows if row.required and len(row.names) == 1]
    any_of = [{"required": [name]} for row in rows if row.required and len(row.names) > 1 for name in row.names]
    return schema | ({"required": required} if required else {}) | ({"anyOf": any_of} if any_of else {})


def subsections(kind: Kind, path: str) -> Iterator[tuple[str, type[Section]]]:
    """The sections in a kind, with the paths of their settings: `sink.files`, `steps[].window`."""
    if isinstance(kind, Nested):
        yield path, kind.section
    for inner, suffix in kind.inner():
        yield from subsections(inner, path + suffix)
