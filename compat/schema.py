"""A schema on its way from text to parsed schema: its text, its references, and the parser's result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from msgspec import Struct

AVRO = "AVRO"
JSON = "JSON"
PROTOBUF = "PROTOBUF"


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a schema's source text; both numbers count from 1."""

    line: int
    column: int


#: A path into a schema's source: object keys and array indices; for Protobuf, names and tags.
Pointer = tuple[str | int, ...]


@dataclass(unsafe_hash=True)
class InvalidSchema(ValueError):
    """A schema text that its type's parser refuses.

    `detail` is the sentence that follows `details: ` in error 42201; `position` is the place of the error, if known.
    """

    schema_type: str
    detail: str
    position: Position | None = None

    def __str__(self) -> str:
        return self.detail


@dataclass(frozen=True, slots=True)
class SchemaWarning:
    """Something that the registry accepts in a schema, but the schema type's own tools refuse.

    `message` says what it is and `remedy` what to do, in one sentence each; `position` is its place, if known.
    """

    rule: str
    message: str
    remedy: str
    position: Position | None


@dataclass(frozen=True, slots=True)
class Reference:
    """A schema's reference to a version of another subject.

    `name` is the name that the text uses: an Avro full name, a JSON Schema `$ref` URI or a Protobuf import path.
    `version` is -1 for the latest version until the reference is resolved.
    """

    name: str
    subject: str
    version: int


class SchemaText(Struct, frozen=True):
    """A schema as it came from a client or a topic, not parsed yet."""

    schema_type: str
    text: str
    references: tuple[Reference, ...] = ()


@dataclass(frozen=True, slots=True)
class Dependency:
    """A schema that another schema refers to, under the reference's name."""

    name: str
    text: str


#: The transitive closure of a schema's references, depth-first: a schema's dependencies precede it, and each name
#: occurs once (the first definition wins).
Dependencies = tuple[Dependency, ...]


@runtime_checkable
class ParsedSchema(Protocol):
    """A schema text that its type's parser accepted."""

    @property
    def schema_type(self) -> str:
        """The type's name on the wire: AVRO, JSON or PROTOBUF."""

    @property
    def source(self) -> str:
        """The parsed text, unchanged; positions count in it."""

    @property
    def canonical(self) -> str:
        """The text that is stored and that determines the schema's identity."""

    @property
    def full_name(self) -> str | None:
        """The name that the record subject strategies use; None if the schema has none."""

    @property
    def top_level_fields(self) -> tuple[str, ...]:
        """The names of the schema's top-level fields, for reserved-field checks."""

    def normalized(self) -> str:
        """The text that `normalize=true` stores: texts that differ only in order and spelling have the same one."""

    def rendered(self, form: str) -> str:
        """The text in a form such as `resolved` or `serialized`; the canonical text if the type has no such form."""


def shorten(text: str) -> str:
    """A text on one line, of at most some eighty characters, for `repr`."""
    line = " ".join(text[: 4 * _LONGEST_SHOWN].split())
    return line if len(line) <= _LONGEST_SHOWN and len(text) <= 4 * _LONGEST_SHOWN else f"{line[:_LONGEST_SHOWN]}..."


_LONGEST_SHOWN = 80
