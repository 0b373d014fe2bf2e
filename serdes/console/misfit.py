"""Texts that do not fit their schemas, and what a schema does not say about texts."""

from __future__ import annotations

from dataclasses import dataclass

from serdes.error import SerializationError


@dataclass(unsafe_hash=True)
class BadText(SerializationError):
    """A text that is no datum of its schema: what is wrong, at which path, and at which of the text's characters."""

    problem: str
    offset: int
    path: str | None = None

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}" if self.path else self.problem


@dataclass(frozen=True, slots=True)
class TextOptions:
    """What the schema does not say.

    Attributes:
        plain_unions: Avro JSON without tags, where missing fields take their defaults.
        message: The full name of the Protobuf message to write; the file's first one unless named.
        proto_names: Protobuf fields are shown under the schema's names, not in lowerCamelCase.
    """

    plain_unions: bool = False
    message: str | None = None
    proto_names: bool = False


class Unfit(Exception):
    """A datum that does not fit: the place and the reason."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(problem)
        self.path = path
