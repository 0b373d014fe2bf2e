"""Leaves of a schema, the functions that visit their values, and the failure of a visit."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, Self, runtime_checkable


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value without parts that a field of a schema holds, itself or in arrays, maps and unions.

    Attributes:
        full_name: The full name of the field.
        name: The name of the field.
        type_name: The type of the value, such as STRING, INT or NULL.
        tags: The tags of the field, inline ones and those of the metadata.
        logical_type: Avro's logical type; `unsigned`, `timestamp` or `decimal` for Protobuf; None if there is none.
    """

    full_name: str
    name: str
    type_name: str
    tags: frozenset[str]
    logical_type: str | None = None


@dataclass(frozen=True, slots=True)
class DeclaredField:
    """A field as a schema declares it, with or without leaves.

    Attributes:
        full_name: Its full name.
        name: Its name.
        type_name: Its type: also RECORD, ARRAY, MAP and COMBINED.
        tags: Its tags, inline ones and those of the metadata.
        holds_records: Whether its value, an item or an entry of it may be a record: its tags do not reach what is in
            that record.
    """

    full_name: str
    name: str
    type_name: str
    tags: frozenset[str]
    holds_records: bool


#: Types of leaves that rules on fields see; ENUM, FIXED and MAP are leaves too, but are not primitive.
PRIMITIVE = frozenset({"STRING", "BYTES", "INT", "LONG", "FLOAT", "DOUBLE", "BOOLEAN", "NULL"})

#: Takes a leaf's value and the record that contains it; returns the new value, or the same object for no change.
Visit = Callable[[Any, Any], Any]
#: Returns the visit of a leaf; None if the leaf is not visited. It is a pure function of the leaf.
Select = Callable[[Leaf], Visit | None]
#: Takes a value and the record that contains it; returns the same object if nothing below changed.
Step = Callable[[Any, Any], Any]
#: Takes a message; returns the same object if nothing changed, else a copy.
Walk = Callable[[Any], Any]


class LeafFailed(Exception):
    """A visit failed, or a value does not fit its schema.

    Attributes:
        cause: The reason: an exception or a text that does not show the value.
        path: The place of the value in the message, such as `lines[2].no`; empty for the message itself.
    """

    def __init__(self, cause: Exception | str) -> None:
        super().__init__(cause)
        self.cause = cause
        self.path = ""

    def __str__(self) -> str:
        return f"{self.path}: {self.cause}" if self.path else str(self.cause)

    def in_field(self, name: str) -> Self:
        """The failure, one field further from its value."""
        separator = "." if self.path and self.path[0] != "[" else ""
        self.path = f"{name}{separator}{self.path}"
        return self

    def in_item(self, index: int) -> Self:
        """The failure, one array further from its value."""
        separator = "." if self.path and self.path[0] != "[" else ""
        self.path = f"[{index}]{separator}{self.path}"
        return self

    def in_entry(self, key: Any) -> Self:
        """The failure, one map further from its value."""
        separator = "." if self.path and self.path[0] != "[" else ""
        self.path = f"[{json.dumps(str(key))}]{separator}{self.path}"
        return self


@runtime_checkable
class FieldWalk(Protocol):
    """The fields of a schema, and the walks over its messages.

    Attributes:
        leaves: The leaves. A recursive JSON Schema has its leaves once for each way to them.
        fields: The fields, those without leaves too.
    """

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """The leaves, in the order of the schema."""

    @property
    def fields(self) -> tuple[DeclaredField, ...]:
        """The fields, in the order of the schema."""

    def compile(self, select: Select) -> Walk | None:
        """The walk that visits the selected leaves of a message.

        Args:
            select: Returns the visit of a leaf; asked once for each leaf. Only a recursive JSON Schema asks it for
                deeper leaves later, when a message has them.

        Returns:
            A function from a message to the message, or to a copy with what the visits changed; None if no leaf is
            selected. It raises LeafFailed.
        """
