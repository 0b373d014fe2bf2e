"""The stages of a schema: text as it came, the texts it refers to, and what a parser made of it."""

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


#: A path into a schema's source: object keys, array indices, or for Protobuf names and tags.
Pointer = tuple[str | int, ...]


@dataclass(unsafe_hash=True)
class InvalidSchema(ValueError):
    """A schema text that its type's parser refuses.

    `detail` is the sentence that follows `details: ` in error 42201; `position` is where it went wrong, if known.
    """

    schema_type: str
    detail: str
    position: Position | None = None

    def __str__(self) -> str:
        return self.detail


@dataclass(frozen=True, slots=True)
class SchemaWarning:
    """Something in a schema that the registry accepts and the schema type's own tools refuse.

    `message` says what it is and `remedy` what to do, in a sentence each; `position` is where it stands, if known.
    """

    rule: str
    message: str
    remedy: str
    position: Position | None


@dataclass(frozen=True, slots=True)
class Reference:
    """A schema's mention of a version of another subject.

    `name` is what the text uses: an Avro full name, a JSON Schema `$ref` URI, a Protobuf import path.
    `version` is -1 for the latest until the reference is resolved.
    """

    name: str
    subject: str
    version: int


class SchemaText(Struct, frozen=True):
    """A schema as a client or a topic gave it: nothing has been read out of the text yet."""

    schema_type: str
    text: str
    references: tuple[Reference, ...] = ()


@dataclass(frozen=True, slots=True)
class Dependency:
    """One schema that another refers to, under the name the reference gave it."""

    name: str
    text: str


#: The transitive closure of a schema's references, depth-first: whatever a member needs stands before it,
#: and each name stands once (the first definition wins).
Dependencies = tuple[Dependency, ...]


@runtime_checkable
class ParsedSchema(Protocol):
    """A schema text that its type's parser accepted."""

    @property
    def schema_type(self) -> str:
        """The type's name on the wire: AVRO, JSON or PROTOBUF."""

    @property
    def source(self) -> str:
        """The text that was parsed, unchanged: positions count in it."""

    @property
    def canonical(self) -> str:
        """The text that is stored and that identity is computed from."""

    @property
    def full_name(self) -> str | None:
        """The name that the record subject strategies use; None where the schema has none."""

    @property
    def top_level_fields(self) -> tuple[str, ...]:
        """Names of the fields at the top of the schema, for reserved-field checks."""

    def normalized(self) -> str:
        """The text that `normalize=true` stores: the same for all texts that differ in order and spelling only."""

    def rendered(self, form: str) -> str:
        """The text in another form, such as `resolved` or `serialized`; a form unknown to the type is the canonical."""


def shorten(text: str) -> str:
    """A text on one line, of at most some eighty characters, for `repr`."""
    line = " ".join(text[: 4 * _LONGEST_SHOWN].split())
    return line if len(line) <= _LONGEST_SHOWN and len(text) <= 4 * _LONGEST_SHOWN else f"{line[:_LONGEST_SHOWN]}..."


_LONGEST_SHOWN = 80
