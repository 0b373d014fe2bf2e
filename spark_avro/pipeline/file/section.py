"""Sections of a pipeline file: frozen dataclasses whose fields are the rows of the table of settings."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from spark_avro.pipeline.file.kinds import BROKEN, Kind, Reading
from spark_avro.pipeline.file.nodes import UNRESOLVED, Entry, MapNode, Node, ScalarNode
from spark_avro.pipeline.file.place import NOWHERE, PipelineError, Place, did_you_mean, error_at

_KEY = "spark_avro.pipeline"


@dataclass(frozen=True, slots=True)
class Setting:
    """A row of the table of settings.

    Attributes:
        name: The name in the file.
        field: The name in the dataclass.
        kind: What the setting takes.
        help: One sentence for the reference.
        required: Whether it has to be given.
        default: The default in words; None if there is none.
    """

    name: str
    field: str
    kind: Kind
    help: str
    required: bool
    default: str | None


def setting(
    kind: Kind,
    help: str,  # noqa: A002 - the column of the reference
    *,
    name: str | None = None,
    default: Any = dataclasses.MISSING,
    shown_default: str | None = None,
    secret: bool = False,
) -> Any:
    """A field of a section: a row of the table of settings.

    Args:
        kind: What it takes.
        help: One sentence for the reference.
        name: The name in the file; by default, the field's with `-` for `_`.
        default: The value if it is not given; without it, the setting is required.
        shown_default: The default in the reference, if its own text is not clear.
        secret: Whether the value may hold secrets, and stays out of the section's repr.
    """
    metadata = {_KEY: (name, kind, help, shown_default)}
    if default is dataclasses.MISSING:
        return field(metadata=metadata, repr=not secret, kw_only=True)
    if isinstance(default, dict):
        return field(default_factory=lambda: dict(default), metadata=metadata, repr=not secret, kw_only=True)
    return field(default=default, metadata=metadata, repr=not secret, kw_only=True)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a section stands in the file.

    Attributes:
        setting: The path of its setting, such as `sink.files`.
        place: The position.
        places: The positions of its values by setting name.
    """

    setting: str = ""
    place: Place = NOWHERE
    places: Mapping[str, Place] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A section: its values, and its origin in the file."""

    origin: Origin = field(default=Origin(), compare=False, repr=False)

    def problems(self) -> Iterable[tuple[str, str]]:
        """Problems between settings that are valid one by one: a setting's name (or "") and the problem."""
        return ()

    def at(self, name: str) -> Place:
        """The place of a setting's value, or of the section if it is not given."""
        return self.origin.places.get(name, self.origin.place)

    def error(self, name: str, problem: str) -> PipelineError:
        """An error at a setting's value."""
        return error_at(self.at(name), _join(self.origin.setting, name), problem)


S = TypeVar("S", bound=Section)


def settings_of(section: type[Section]) -> list[Setting]:
    """The rows of a section, in the order of the file."""
    rows = []
    for item in dataclasses.fields(section):
        if _KEY not in item.metadata:
            continue
        name, kind, text, shown_default = item.metadata[_KEY]
        required = item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING
        default = shown_default or (None if required else _shown(item.default))
        rows.append(Setting(name or item.name.replace("_", "-"), item.name, kind, text, required, default))
    return rows


def _shown(default: Any) -> str | None:
    if default is dataclasses.MISSING or default in (None, (), ""):
        return None
    return str(default).lower() if isinstance(default, bool) else str(default)


@dataclass(frozen=True)
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
            if not self._short().kind.takes(node):
                return self.wrong(node, reading, path)
            value = self._short().kind.read(node, reading, path)
            if value is BROKEN:
                return BROKEN
            values = {self._short().field: value}
            return _checked(self.section, values, node.place, {self.short: node.place}, reading, path)
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

    def _short(self) -> Setting:
        return next(row for row in settings_of(self.section) if row.name == self.short)


@dataclass(frozen=True)
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
        value = self.row.kind.read(node, reading, path)
        if value is BROKEN:
            return BROKEN
        return _checked(self.section, {self.row.field: value}, node.place, {"": node.place}, reading, path)

    def json_schema(self) -> dict[str, Any]:
        return {"description": self.row.help, **self.row.kind.json_schema()}


@dataclass(frozen=True)
class OneKey(Kind):
    """A mapping with exactly one of several keys; the key says what the value is: `files: {..}` or `kafka: {..}`."""

    kinds: Mapping[str, Kind]

    @property
    def words(self) -> str:
        return f"one of {', '.join(self.kinds)}, with its settings"

    def takes(self, node: Node) -> bool:
        return isinstance(node, MapNode) and any(key in self.kinds for key in node.entries)

    def read(self, node: Node, reading: Reading, path: str) -> Any:
        if not isinstance(node, MapNode):
            return self.wrong(node, reading, path)
        unknown = [key for key in node.entries if key not in self.kinds]
        for key in unknown:
            reading.report(node.entries[key].key, _join(path, key), f"no such setting{did_you_mean(key, self.kinds)}")
        chosen = [key for key in node.entries if key in self.kinds]
        values = [self.kinds[key].read(node.entries[key].node, reading, _join(path, key)) for key in chosen]
        if len(chosen) > 1:
            second = node.entries[chosen[1]].key
            return reading.report(second, _join(path, chosen[1]), f"stands beside {chosen[0]}; give one of them")
        if not chosen and not unknown:
            return reading.report(node.place, path, f"must be {self.words}")
        return BROKEN if unknown or not chosen else values[0]

    def json_schema(self) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": {name: kind.json_schema() for name, kind in self.kinds.items()},
            "additionalProperties": False,
            "minProperties": 1,
            "maxProperties": 1,
        }


def read_section(
    section: type[S], node: MapNode, reading: Reading, path: str, *, but: frozenset[str] = frozenset()
) -> Any:
    """The section of a mapping, with all settings checked; BROKEN after findings.

    Args:
        section: The dataclass.
        node: The mapping.
        reading: Takes the findings.
        path: The path of the section's setting.
        but: Keys that are read elsewhere.
    """
    rows = {row.name: row for row in settings_of(section)}
    values: dict[str, Any] = {}
    broken = False
    for key, entry in node.entries.items():
        row = rows.get(key)
        if key in but:
            continue
        if row is None:
            reading.report(entry.key, _join(path, key), f"no such setting{did_you_mean(key, rows)}")
            broken = True
            continue
        values[row.field] = row.kind.read(entry.node, reading, _join(path, key))
    for row in rows.values():
        if row.required and row.field not in values and not _misspelt(row.name, node, rows):
            reading.report(node.place, _join(path, row.name), f"is missing: {row.help}")
            broken = True
    if broken or any(value is BROKEN for value in values.values()):
        return BROKEN
    return _checked(section, values, node.place, _places(node.entries), reading, path)


def _misspelt(name: str, node: MapNode, rows: Mapping[str, Setting]) -> bool:
    """Whether an unknown key is probably a misspelt required setting, so that one finding is enough."""
    unknown = [key for key in node.entries if key not in rows]
    return any(did_you_mean(key, rows) == f"; did you mean {name}?" for key in unknown)


def _checked(
    section: type[S], values: dict[str, Any], place: Place, places: Mapping[str, Place], reading: Reading, path: str
) -> Any:
    made = section(**values, origin=Origin(path, place, places))
    wrong = False
    for name, problem in made.problems():
        reading.report(made.at(name), _join(path, name), problem)
        wrong = True
    return BROKEN if wrong else made


def _places(entries: Mapping[str, Entry]) -> dict[str, Place]:
    return {key: entry.node.place for key, entry in entries.items()}


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path and name else path or name


def section_schema(section: type[Section]) -> dict[str, Any]:
    """A section in JSON Schema."""
    rows = settings_of(section)
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {row.name: {"description": row.help, **row.kind.json_schema()} for row in rows},
        "additionalProperties": False,
    }
    required = [row.name for row in rows if row.required]
    return schema | {"required": required} if required else schema


def subsections(kind: Kind, path: str) -> Iterator[tuple[str, type[Section]]]:
    """The sections in a kind, with the paths of their settings: `sink.files`, `steps[].window`."""
    if isinstance(kind, Nested):
        yield path, kind.section
    for inner, suffix in _inner(kind):
        yield from subsections(inner, path + suffix)


def _inner(kind: Kind) -> Iterator[tuple[Kind, str]]:
    if isinstance(kind, OneKey):
        yield from ((inner, f".{name}") for name, inner in kind.kinds.items())
    for inner in getattr(kind, "kinds", ()) if not isinstance(kind, OneKey) else ():
        yield inner, ""
    item = getattr(kind, "item", None)
    if item is not None:
        yield item, "[]" if hasattr(kind, "or_one") else ".NAME"
