"""The versions around one version: those that it refers to, and those that refer to it, directly or indirectly."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from registry.state.model import LATEST, Version, context_of
from registry.state.resolve import reference_target
from registry.state.view import View

#: The most nodes and edges of a graph, and the most references that are looked at to find the edges.
MOST_NODES = 500
_MOST_EDGES = 5_000
_MOST_LOOKED_AT = 50_000

_SubjectVersion = tuple[str, int]


class GraphDirection(StrEnum):
    """The direction in which a graph follows references."""

    REFERENCES = "references"
    REFERRERS = "referrers"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A version in a graph.

    Attributes:
        version: The version.
        distance: How many references away it is: positive if the start refers to it, negative if it refers to the
            start, 0 for the start itself. If both are true, it is positive.
    """

    version: Version
    distance: int


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """A reference with its name; source and target are indexes of nodes."""

    source: int
    target: int
    name: str


@dataclass(frozen=True, slots=True)
class Graph:
    """The nodes, the start first; the references between them; and whether more nodes or edges are left out."""

    nodes: Sequence[GraphNode]
    edges: Sequence[GraphEdge]
    is_cut: bool


def reference_graph(
    view: View, start: Version, direction: GraphDirection, *, depth: int, deleted_referrers: bool
) -> Graph:
    """The graph around a version. It has only subjects that the reader of the view may see.

    Args:
        view: The state.
        start: The version.
        direction: The direction in which to follow references.
        depth: How many references to follow one after the other.
        deleted_referrers: Include soft-deleted versions that refer to others.
    """
    nodes = {_key(start): GraphNode(start, 0)}
    is_cut = False
    if direction is not GraphDirection.REFERRERS:
        is_cut |= _walk(nodes, start, lambda version: (target for _, target in _targets(view, version)), depth, 1)
    if direction is not GraphDirection.REFERENCES:
        is_cut |= _walk(nodes, start, lambda version: _referrers(view, version, deleted=deleted_referrers), depth, -1)
    edges, has_more_edges = _edges(view, nodes)
    return Graph(list(nodes.values()), edges, is_cut or has_more_edges)


def _walk(
    nodes: dict[_SubjectVersion, GraphNode],
    start: Version,
    neighbours: Callable[[Version], Iterator[Version]],
    depth: int,
    sign: int,
) -> bool:
    """Add the versions that are up to `depth` steps away, the nearest first; return whether others follow."""
    visited = {_key(start)}
    nearest = [start]
    for distance in range(1, depth + 2):
        following: list[Version] = []
        for version in nearest:
            for neighbour in neighbours(version):
                key = _key(neighbour)
                if key in visited:
                    continue
                if distance > depth or (key not in nodes and len(nodes) == MOST_NODES):
                    return True
                visited.add(key)
                nodes.setdefault(key, GraphNode(neighbour, sign * distance))
                following.append(neighbour)
        nearest = following
    return False


def _edges(view: View, nodes: dict[_SubjectVersion, GraphNode]) -> tuple[list[GraphEdge], bool]:
    """The references between nodes, and whether there are more."""
    indexes = {key: index for index, key in enumerate(nodes)}
    edges: list[GraphEdge] = []
    looked_at = 0
    for source, node in enumerate(nodes.values()):
        for name, target in _targets(view, node.version):
            looked_at += 1
            if len(edges) == _MOST_EDGES or looked_at > _MOST_LOOKED_AT:
                return edges, True
            index = indexes.get(_key(target))
            if index is not None:
                edges.append(GraphEdge(source, index, name))
    return edges, False


def _targets(view: View, version: Version) -> Iterator[tuple[str, Version]]:
    """The versions that a version refers to, by the names of its references; they may be soft-deleted."""
    context = context_of(version.subject)
    for reference in version.references:
        target = reference_target(view, context, reference, allow_deleted=True)
        if target is not None and view.may_see(target.subject):
            yield reference.name, target


def _referrers(view: View, version: Version, *, deleted: bool) -> Iterator[Version]:
    """The versions that refer to a version, by subject and number."""
    referrers = view.referrers(version.subject, version.number)
    latest = view.latest(version.subject)
    if latest is not None and latest.number == version.number:
        # In old topics a reference may be to the latest version instead of a number.
        referrers += view.referrers(version.subject, LATEST)
    for referrer in sorted(referrers, key=_key):
        if (deleted or not referrer.deleted) and view.may_see(referrer.subject):
            yield referrer


def _key(version: Version) -> _SubjectVersion:
    return version.subject, version.number
