"""The changes between two outlines, one row for each node that differs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from compat.outline.field_paths import field_path, parents
from compat.outline.pairing import Pairing, members
from compat.outline_tree import Outline, OutlineNode
from compat.report.finding import Finding
from compat.schema import Pointer

ADDED, REMOVED, CHANGED, RENAMED, RENUMBERED, MOVED = "added", "removed", "changed", "renamed", "renumbered", "moved"

#: A node of the old outline and its partner; None if there is no such node on that side.
_Entry = tuple[OutlineNode | None, OutlineNode | None]


@dataclass(slots=True)
class Change:
    """One row: a node that was added, removed or changed, and what the rules find there.

    Attributes:
        kind: What happened: `added`, `removed`, `renamed`, `renumbered`, `moved` or `changed`.
        old: The node of the old outline; None if it was added.
        new: The node of the new outline; None if it was removed.
        what: The parts of the node that differ.
        leaves: How many leaves were added or removed.
        path: The path; that of the new node if there is one.
        field_path: The path by the names of fields, such as `address.min`; empty for the root.
        findings: The findings that belong to it.
    """

    kind: str
    old: OutlineNode | None
    new: OutlineNode | None
    what: tuple[str, ...] = ()
    leaves: int = 0
    path: str = ""
    field_path: str = ""
    findings: list[Finding] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The name of the node; empty if it has none."""
        node = self.new or self.old
        return "" if node is None else node.name

    def to_json(self) -> dict[str, Any]:
        """The change as JSON data, without its findings."""
        node = self.new or self.old
        old, new = (None if side is None else side.to_json() for side in (self.old, self.new))
        return {
            "path": self.path if node is None else node.path,
            "fieldPath": self.field_path,
            "name": self.name,
            "kind": self.kind,
            "what": self.what,
            "old": old,
            "new": new,
            "at": {"old": old and old["at"], "new": new and new["at"]},
            "leaves": self.leaves,
        }


class Changes:
    """The changes from an old to a new outline; findings can be attached to them.

    The missing nodes of a cut outline are unknown. So nothing counts as removed if the new outline is cut, and nothing
    counts as added if the old one is cut.
    """

    def __init__(self, old: Outline, new: Outline) -> None:
        """Compare two outlines."""
        self.is_cut = old.is_cut or new.is_cut
        self._old, self._new = old, new
        self._pairing = Pairing(old.root, new.root)
        old_nodes, new_nodes = list(old.root.walk()), list(new.root.walk())
        self._old_ids = {id(node) for node in old_nodes}
        self._old_at = {node.pointer: node for node in reversed(old_nodes) if node.pointer is not None}
        self._parents = parents(old.root) | parents(new.root)
        self._new_at = {node.pointer: node for node in reversed(new_nodes) if node.pointer is not None}
        #: The rows by the ids of their nodes; an added or removed node has the row of the outermost such node.
        self._rows: dict[int, Change] = {}
        self._order: list[_Entry] = list(self._entries())
        self._others: list[Change] = []
        self.unchanged = 0
        for entry in self._order:
            self._compare(*entry)

    def rows(self) -> list[Change]:
        """The rows, in the order of the new text; removed nodes are where they were."""
        ordered = [self._row(new or old) for old, new in self._order]
        rows = {id(row): row for row in ordered if row is not None}
        for row in rows.values():
            node = row.new or row.old
            row.field_path = "" if node is None else field_path(node, self._parents)
        return [*rows.values(), *self._others]

    def attach(self, finding: Finding) -> None:
        """Attach a finding to the change that it belongs to; one that belongs to no node gets a row."""
        difference = finding.difference
        reader_at, writer_at = difference.reader_at, difference.writer_at
        new_at, old_at = (reader_at, writer_at) if finding.direction.new_reads_old else (writer_at, reader_at)
        nodes = [_nearest(self._new_at, new_at), _nearest(self._old_at, old_at)]
        placed = [node for node in nodes if node is not None]
        if not placed:
            self._others.append(Change(CHANGED, None, None, path=difference.path, findings=[finding]))
            return
        # The path may continue to a member of the node, such as a property that is named in `required`.
        name = difference.path.rpartition("/")[2]
        if any(place is not None and place[-1:] != (name,) for place in (new_at, old_at)):
            named = [row for node in placed for row in self._rows_inside(node) if row.name == name]
        else:
            named = []
        row = named[0] if named else self._row_around(placed)
        row.findings.append(finding)

    def _row(self, node: OutlineNode | None) -> Change | None:
        return self._rows.get(id(node))

    def _row_around(self, nodes: Sequence[OutlineNode]) -> Change:
        """The row of the innermost node that has one; else the row of its only changed member, or a new row."""
        with_row = [node for node in nodes if self._row(node) is not None]
        node = max(with_row or nodes, key=lambda node: len(node.pointer or ()))
        inside = self._rows_inside(node)
        return self._row(node) or (inside[0] if len(inside) == 1 else self._own_row(node))

    def _rows_inside(self, node: OutlineNode) -> list[Change]:
        """The rows of the members of a pair."""
        old, new = self._pair_of(node)
        rows = [self._row(member) for side in (old, new) if side is not None for member in members(side)]
        return list({id(row): row for row in rows if row is not None}.values())

    def _own_row(self, node: OutlineNode) -> Change:
        old, new = self._pair_of(node)
        self.unchanged -= _has_leaf(old, new)
        return self._add(Change(CHANGED, old, new))

    def _add(self, row: Change) -> Change:
        self._rows |= {id(node): row for node in (row.old, row.new) if node is not None}
        return row

    def _pair_of(self, node: OutlineNode) -> _Entry:
        """A node and its partner as (old, new); the side without a node is None."""
        new = self._pairing.new_of(node)
        if new is not None:
            return node, new
        return (node, None) if id(node) in self._old_ids else (self._pairing.old_of(node), node)

    def _compare(self, old: OutlineNode | None, new: OutlineNode | None) -> None:
        if old is not None and new is not None:
            what = _differing(old, new, is_moved=self._pairing.is_moved(old, new))
            if what:
                self._add(Change(_kind(what), old, new, what))
            else:
                self.unchanged += _has_leaf(old, new)
            return
        kind, node = (REMOVED, old) if old is not None else (ADDED, new)
        if node is None or (self._old if kind == ADDED else self._new).is_cut:
            return
        row = self._row(node) or self._add(Change(kind, old, new))
        row.leaves += not node.children
        single = [child for child in node.children if None in self._pair_of(child)]
        self._rows |= {id(child): row for child in single}

    def _entries(self) -> Iterator[_Entry]:
        """All pairs and all single nodes; outer ones come first."""
        waiting: list[_Entry] = [(self._old.root, self._new.root)]
        while waiting:
            old, new = waiting.pop()
            yield old, new
            waiting += reversed(list(self._inside(old, new)))

    def _inside(self, old: OutlineNode | None, new: OutlineNode | None) -> Iterator[_Entry]:
        """The children of a pair, in the order of the new text; a removed child follows the one that preceded it."""
        removed: list[list[OutlineNode]] = [[]]
        after: dict[int, list[OutlineNode]] = {}
        for child in old.children if old is not None else ():
            partner = self._pairing.new_of(child)
            if partner is None:
                removed[-1].append(child)
            else:
                removed.append([])
                after[id(partner)] = removed[-1]
        yield from ((child, None) for child in removed[0])
        if new is not None:
            for child in new.children:
                yield self._pairing.old_of(child), child
                yield from ((gone, None) for gone in after.pop(id(child), ()))
        for left in after.values():
            yield from ((child, None) for child in left)


def _nearest(nodes: dict[Pointer, OutlineNode], pointer: Pointer | None) -> OutlineNode | None:
    """The innermost node that contains a place."""
    if pointer is None:
        return None
    places = (pointer[:length] for length in range(len(pointer), -1, -1))
    return next((nodes[place] for place in places if place in nodes), None)


def _has_leaf(old: OutlineNode | None, new: OutlineNode | None) -> bool:
    """Whether one node of a pair has no children."""
    return old is not None and new is not None and not (old.children and new.children)


def _shape(node: OutlineNode) -> str:
    return node.type if node.shape is None else node.shape


def _origin(node: OutlineNode) -> Sequence[object]:
    """The subject that a node refers to, if it is another one; a place in the same text does not change the type."""
    return (None, None) if node.reference is None else (node.reference.subject, node.reference.version)


#: The parts of a node that are compared, in the order in which a row names them; attributes follow them.
_PARTS: Mapping[str, Callable[[OutlineNode], object]] = {
    "name": attrgetter("name"),
    "kind": attrgetter("kind"),
    "type": _shape,
    "default": attrgetter("default"),
    "number": attrgetter("number"),
    "optional": attrgetter("optional"),
    "reference": _origin,
    "doc": attrgetter("doc"),
    "tags": lambda node: frozenset(node.tags),
    "aliases": lambda node: frozenset(node.aliases),
}


def _differing(old: OutlineNode, new: OutlineNode, *, is_moved: bool) -> tuple[str, ...]:
    """The parts that differ in a pair."""
    what = [part for part, value_of in _PARTS.items() if value_of(old) != value_of(new)]
    names = dict.fromkeys((*old.attributes, *new.attributes))
    what += [f"attributes.{name}" for name in names if old.attributes.get(name) != new.attributes.get(name)]
    return (*what, "place") if is_moved else tuple(what)


def _kind(what: Sequence[str]) -> str:
    if "kind" in what:
        return CHANGED
    if "name" in what:
        return RENAMED
    if "number" in what:
        return RENUMBERED
    return MOVED if tuple(what) == ("place",) else CHANGED
