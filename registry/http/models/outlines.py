"""Models of outlines and comparisons."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from registry.http.models.verdicts import Error, Explanation


class Position(TypedDict):
    """A place in a text, counted from 1; null if the text has none."""

    line: int
    column: int


class OutlineReference(TypedDict):
    """A type, file or schema that a node uses."""

    name: str
    path: str | None
    subject: str | None
    version: int | None


class OutlineEntry(TypedDict):
    """A node of an outline."""

    path: Annotated[
        str,
        Field(
            description="A name that no other node has: a full name such as `nyc.Flight.distance`; in JSON "
            "Schema a JSON pointer."
        ),
    ]
    name: str
    kind: Annotated[
        str,
        Field(
            description="Avro: record, field, enum, symbol, fixed, reference, type. Protobuf: file, import, "
            "message, field, oneof, enum, constant, service, method, extend. JSON Schema: schema, "
            "property, pattern, dependent, definition, value."
        ),
    ]
    type: Annotated[
        str,
        Field(
            description="In words, such as `null | timestamp-millis`, `decimal(12, 2)` or `map<string, int32>`; "
            "empty for a node without values."
        ),
    ]
    default: Annotated[str | None, Field(description="As text of the schema language; null if there is none.")]
    doc: str | None
    tags: list[str]
    number: Annotated[int | None, Field(description="Of a Protobuf field or constant.")]
    aliases: list[str]
    optional: Annotated[bool | None, Field(description="Whether data may leave the value out.")]
    attributes: Annotated[
        dict[str, str], Field(description="All else that the text says, as text of the schema language.")
    ]
    at: Position | None
    reference: Annotated[
        OutlineReference | None,
        Field(
            description="A type, file or schema that the node uses: at a `path` of this outline, or in a "
            "version of a subject."
        ),
    ]


class OutlineNode(OutlineEntry):
    """A node of an outline, with its children."""

    children: list[OutlineNode]


class ComparedSchema(TypedDict):
    """One side of a comparison."""

    subject: str | None
    version: Annotated[int | None, Field(description="Null for the schema in the body.")]
    id: Annotated[int | None, Field(description="Null for the schema in the body.")]
    schemaType: str


class Outline(TypedDict):
    """The outline of a schema."""

    subject: str | None
    version: Annotated[int | None, Field(description="Null for the schema in the body.")]
    id: Annotated[int | None, Field(description="Null for the schema in the body.")]
    schemaType: str
    nodes: Annotated[int, Field(description="Number of nodes in the tree.")]
    cut: Annotated[bool, Field(description="Whether nodes were left out: an outline has at most 10000.")]
    outline: OutlineNode


class DirectionVerdict(TypedDict):
    """The findings of one direction."""

    compatible: bool
    errors: int
    warnings: int


class ChangePositions(TypedDict):
    """The position of a changed node on each side."""

    old: Position | None
    new: Position | None


class Change(TypedDict):
    """A node that differs between two schemas."""

    path: str
    fieldPath: Annotated[
        str,
        Field(
            description="The names of the fields around the node and its own, such as `address.min` or `lines[].sku`; "
            "empty for the root."
        ),
    ]
    name: str
    kind: Literal["added", "removed", "renamed", "renumbered", "moved", "changed"]
    what: Annotated[
        list[str], Field(description="The members of the node that differ; `attributes.NAME`; `place` if it moved.")
    ]
    old: OutlineEntry | None
    new: OutlineEntry | None
    at: ChangePositions
    leaves: Annotated[int, Field(description="Number of leaves that were added or removed with it.")]
    findings: Annotated[list[Explanation], Field(description="What the rules find; each finding is in one change.")]


class Levels(TypedDict):
    """Whether each level would allow a change."""

    NONE: bool
    BACKWARD: bool
    FORWARD: bool
    FULL: bool


#: The members whose names are keywords.
_Sides = TypedDict("_Sides", {"from": ComparedSchema, "to": ComparedSchema})


class Comparison(_Sides):
    """The comparison of two schemas."""

    backward: Annotated[DirectionVerdict, Field(description="`to` reads what `from` wrote.")]
    forward: Annotated[DirectionVerdict, Field(description="`from` reads what `to` writes.")]
    levels: Annotated[Levels, Field(description="Whether each level would allow it.")]
    policy: Literal["STRICT", "LENIENT"]
    unchanged: Annotated[int, Field(description="Number of leaves that are the same on both sides.")]
    cut: Annotated[
        bool,
        Field(description="Whether rows or nodes were left out: more than 5000 rows, or 20000 nodes on a side."),
    ]
    changes: list[Change]


class FailedComparison(_Sides):
    """A stored text can no longer be read."""

    error: Error
