"""Models of searches, graphs, overviews, imports and health."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict


class Hit(TypedDict):
    """A version that a search found."""

    subject: str
    version: int
    id: int
    schemaType: str
    deleted: bool
    name: NotRequired[Annotated[str, Field(description="The full name of the schema.")]]
    fields: NotRequired[Annotated[list[str], Field(description="The paths of the fields that matched.")]]


_WordMatch = TypedDict(
    "_WordMatch",
    {
        "in": Annotated[list[Literal["name", "field", "text"]], Field(description="Where it matches.")],
        "line": Annotated[
            int | None, Field(description="The first match in the stored text; null if it is not there.")
        ],
        "column": int | None,
        "excerpt": Annotated[str | None, Field(description="The text around it, from one line.")],
    },
)


class WordHit(Hit, _WordMatch):
    """A version that has the words."""


_WordCounts = TypedDict(
    "_WordCounts", {"in": Annotated[dict[str, int], Field(description="Number of versions that match, by place.")]}
)


class WordHits(_WordCounts):
    """The versions that have the words, and how many there are."""

    total: Annotated[int, Field(description="Number of versions that match.")]
    hits: list[WordHit]


class GraphNode(TypedDict):
    """A version in a graph of references."""

    subject: str
    version: int
    id: int
    schemaType: str
    deleted: bool
    distance: Annotated[
        int,
        Field(
            description="Distance from the first node, in references: positive if the first node refers to it, "
            "negative if it refers to the first node."
        ),
    ]


GraphEdge = TypedDict(
    "GraphEdge",
    {
        "from": Annotated[int, Field(description="The index of the node that refers to the other one.")],
        "to": Annotated[int, Field(description="The index of that other node.")],
        "name": Annotated[str, Field(description="The name of the reference.")],
    },
)


class Graph(TypedDict):
    """References between versions."""

    nodes: Annotated[
        list[GraphNode],
        Field(description="Versions of subjects that the sender may read; the first is that of the path."),
    ]
    edges: Annotated[list[GraphEdge], Field(description="The references between the nodes.")]
    cut: Annotated[bool, Field(description="Whether there are more nodes or edges: deeper, or more than 500 nodes.")]


class Holder(TypedDict):
    """A version that refers to another one and so keeps it from being deleted."""

    subject: str
    version: int
    id: int
    deleted: Annotated[
        bool, Field(description="Whether it is soft-deleted; then the other one can be soft-deleted, too.")
    ]


class HeldVersion(TypedDict):
    """A version that others refer to."""

    version: int
    total: Annotated[
        int, Field(description="Number of versions that refer to it, of subjects that the sender may read.")
    ]
    referencedBy: list[Holder]


class HeldVersions(TypedDict):
    """The versions of a subject that others refer to."""

    versions: Annotated[list[HeldVersion], Field(description="Newest first; those without a referrer are left out.")]
    total: Annotated[int, Field(description="Number of references to the subject.")]
    cut: Annotated[bool, Field(description="Whether `referencedBy` leaves some out: it has at most 1000.")]


class OverviewCounts(TypedDict):
    """In the first line of an answer with `head`: what the context has in all rows."""

    subjects: NotRequired[Annotated[int, Field(description="Number of subjects with live versions.")]]
    deleted: NotRequired[Annotated[int, Field(description="Number of subjects with soft-deleted versions alone.")]]
    versions: NotRequired[Annotated[int, Field(description="Number of versions that are not deleted.")]]
    ownLevel: NotRequired[Annotated[int, Field(description="Number of live subjects with a level of their own.")]]
    types: NotRequired[
        Annotated[
            dict[str, int],
            Field(description="Number of live subjects by type. Those that the sender may not read are missing."),
        ]
    ]


class Overview(TypedDict):
    """A row for each subject, as columns.

    A row is about the latest version of a subject, or about the newest one if all are soft-deleted. Columns about the
    schema are null for a sender that may not read the subject, and columns about settings are null for a sender that
    may not see them.
    """

    offset: Annotated[
        int | str,
        Field(
            description="The offset of the log, from which `/events` goes on; sealed for senders who may not know it."
        ),
    ]
    total: Annotated[int, Field(description="Number of rows that there are without `offset` and `limit`.")]
    counts: NotRequired[
        Annotated[
            OverviewCounts,
            Field(description="In the first line of an answer with `head`: what the context has in all rows."),
        ]
    ]
    subject: list[str]
    type: list[str | None]
    version: list[int]
    versions: Annotated[list[int], Field(description="Number of versions that are not deleted.")]
    deletedVersions: Annotated[list[int], Field(description="Number of versions that are soft-deleted.")]
    id: list[int | None]
    ts: Annotated[
        list[int | None],
        Field(description="When the version was written, in ms since the epoch; null if the log does not say."),
    ]
    level: Annotated[list[str | None], Field(description="The compatibility level in effect.")]
    ownLevel: Annotated[list[bool | None], Field(description="Whether the subject itself has this level.")]
    mode: Annotated[list[str | None], Field(description="The mode in effect.")]
    ownMode: Annotated[list[bool | None], Field(description="Whether the subject itself has this mode.")]
    deleted: Annotated[list[bool], Field(description="Whether all versions are soft-deleted.")]
    references: Annotated[list[int | None], Field(description="Number of references that the version has.")]


class RefusedLine(TypedDict):
    """A line that an import refused."""

    line: int
    message: str


class ImportReport(TypedDict):
    """The outcome of an import, by line."""

    imported: Annotated[dict[str, int], Field(description="Number of lines that were written, by kind.")]
    known: Annotated[int, Field(description="Number of lines that were there already.")]
    refused: list[RefusedLine]
    warnings: NotRequired[Annotated[list[str], Field(description="What the copy lacks; missing if it lacks nothing.")]]


class Health(TypedDict):
    """The state of a node."""

    status: Literal["UP", "DOWN"]
    leader: NotRequired[bool]
    leaderUrl: NotRequired[str | None]
    offset: NotRequired[int]
    lag: NotRequired[int | None]
    problem: NotRequired[str]


class SteppedDown(TypedDict):
    """The lead has another node now."""

    leaderUrl: Annotated[str, Field(description="The URL of the node that leads now.")]
