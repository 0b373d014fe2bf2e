"""Pairs the nodes of an old outline with the same nodes of a new one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import count

from compat.outline_tree import OutlineNode


class Pairing:
    """The pairs of two outlines. A node is in at most one pair, and the two roots always are a pair.

    Types with an identity are paired wherever they are. Other nodes are paired with children of their parent's partner:
    by their keys, the best key first, and then by former names. A key counts only if it names one node on each side.
    """

    def __init__(self, old: OutlineNode, new: OutlineNode) -> None:
        """Pair two outlines.

        Args:
            old: The root of the old outline.
            new: The root of the new outline.
        """
        self._new_of: dict[int, OutlineNode] = {}
        self._old_of: dict[int, OutlineNode] = {}
        self._parents = {id(child): node for root in (old, new) for node in root.walk() for child in node.children}
        self._displaced: set[int] = set()
        waiting = [*self._same_types(old, new)]
        for old_node, new_node in waiting:
            self._add(old_node, new_node)
        while waiting:
            old_node, new_node = waiting.pop()
            waiting += self._pair_members(old_node, new_node)
            self._find_displaced(old_node, new_node)

    def new_of(self, old: OutlineNode) -> OutlineNode | None:
        """The partner of a node of the old outline; None if it was removed."""
        return self._new_of.get(id(old))

    def old_of(self, new: OutlineNode) -> OutlineNode | None:
        """The partner of a node of the new outline; None if it was added."""
        return self._old_of.get(id(new))

    def is_moved(self, old: OutlineNode, new: OutlineNode) -> bool:
        """Whether a node has another group, or another position among its siblings if positions have a meaning."""
        if id(new) in self._displaced:
            return True
        if new.identity is not None:  # the text may define a type at any of its uses
            return False
        old_parent, new_parent = self._parents.get(id(old)), self._parents.get(id(new))
        return old_parent is not None and new_parent is not None and self.new_of(old_parent) is not new_parent

    def _same_types(self, old: OutlineNode, new: OutlineNode) -> Iterator[tuple[OutlineNode, OutlineNode]]:
        yield old, new
        old_types = {node.identity: node for node in old.walk() if node.identity is not None and node is not old}
        for node in new.walk():
            if node.identity in old_types and node is not new:
                yield old_types[node.identity], node

    def _pair_members(self, old: OutlineNode, new: OutlineNode) -> list[tuple[OutlineNode, OutlineNode]]:
        old_members = [node for node in members(old) if id(node) not in self._new_of]
        new_members = [node for node in members(new) if id(node) not in self._old_of]
        pairs: list[tuple[OutlineNode, OutlineNode]] = []
        for index in count():
            if not any(len(node.keys) > index for node in old_members):
                break
            old_by_key, new_by_key = _by_key(old_members, index), _by_key(new_members, index)
            pairs += [(node, new_by_key[key]) for key, node in old_by_key.items() if key in new_by_key]
            for pair in pairs:
                self._add(*pair)
            old_members = [node for node in old_members if id(node) not in self._new_of]
            new_members = [node for node in new_members if id(node) not in self._old_of]
        for old_node, new_node in _renamed(old_members, new_members):
            if id(old_node) not in self._new_of and id(new_node) not in self._old_of:
                self._add(old_node, new_node)
                pairs.append((old_node, new_node))
        return pairs

    def _add(self, old: OutlineNode, new: OutlineNode) -> None:
        self._new_of[id(old)] = new
        self._old_of[id(new)] = old

    def _find_displaced(self, old: OutlineNode, new: OutlineNode) -> None:
        """Find the smallest set of moved children such that the others keep their order."""
        places = {id(node): index for index, node in enumerate(old.children)}
        partners = [(node, self.old_of(node)) for node in new.children if node.is_ordered]
        stayed = [(node, places[id(partner)]) for node, partner in partners if partner and id(partner) in places]
        rising = _longest_rising([place for _, place in stayed])
        self._displaced |= {id(node) for index, (node, _) in enumerate(stayed) if index not in rising}


def members(node: OutlineNode) -> Iterator[OutlineNode]:
    """The children of a node, and those of its groups."""
    for child in node.children:
        yield child
        if child.is_group:
            yield from child.children


def _by_key(nodes: Iterable[OutlineNode], index: int) -> dict[Hashable, OutlineNode]:
    """The nodes by one of their keys, without nodes that share a key."""
    by_key: dict[Hashable, OutlineNode | None] = {}
    for node in nodes:
        if len(node.keys) > index:
            key = node.keys[index]
            by_key[key] = None if key in by_key else node
    return {key: node for key, node in by_key.items() if node is not None}


def _renamed(old: Sequence[OutlineNode], new: Sequence[OutlineNode]) -> Iterator[tuple[OutlineNode, OutlineNode]]:
    """The pairs in which one node has the other's name among its former names."""
    old_by_key, new_by_key = _by_key(old, 0), _by_key(new, 0)
    for node in new:
        yield from ((old_by_key[name], node) for name in node.former if name in old_by_key)
    for node in old:
        yield from ((node, new_by_key[name]) for name in node.former if name in new_by_key)


def _longest_rising(numbers: Sequence[int]) -> frozenset[int]:
    """The indices of a longest rising subsequence of different numbers."""
    ends: list[int] = []  # the smallest last number of a rising subsequence, by its length
    end_indices: list[int] = []
    before: list[int] = []
    for index, number in enumerate(numbers):
        length = bisect_left(ends, number)
        before.append(end_indices[length - 1] if length else -1)
        if length == len(ends):
            ends.append(number)
            end_indices.append(index)
        else:
            ends[length], end_indices[length] = number, index
    chosen: set[int] = set()
    index = end_indices[-1] if end_indices else -1
    while index >= 0:
        chosen.add(index)
        index = before[index]
    return frozenset(chosen)
