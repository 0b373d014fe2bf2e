"""Checks that hold for every comparison, whatever the schemas."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from compat.budget import Budget
from compat.formats import make_outline
from compat.outline.compare import SchemaComparison, Side, compare
from compat.outline_tree import Limits, Outline, OutlineNode
from compat.schema import ParsedSchema


def outline_of(schema: ParsedSchema, limits: Limits | None = None) -> Outline:
    return make_outline(schema, (), limits or Limits())


def leaves(outline: Outline) -> int:
    return sum(not node.children for node in outline.root.walk())


@dataclass(frozen=True)
class Sides:
    """The number of leaves on each side, and how many of them are in rows."""

    old: int
    new: int
    old_in_rows: int
    new_in_rows: int


def check_comparison(old: ParsedSchema, new: ParsedSchema) -> SchemaComparison:
    """Compare two schemas, and check that no leaf, no finding and no difference is lost or told twice."""
    comparison = compare(Side(old), Side(new), budget=Budget(100_000_000))
    rows = comparison.changes
    assert Counter(id(one) for row in rows for one in row.findings) == Counter(map(id, comparison.findings))
    sides = Sides(
        leaves(outline_of(old)),
        leaves(outline_of(new)),
        sum(_leaves_of(row.old) if row.new else row.leaves for row in rows if row.old),
        sum(_leaves_of(row.new) if row.old else row.leaves for row in rows if row.new),
    )
    unchanged_old, unchanged_new = sides.old - sides.old_in_rows, sides.new - sides.new_in_rows
    assert min(unchanged_old, unchanged_new) >= 0, sides
    # Of a pair, one may be a leaf and the other not.
    assert max(unchanged_old, unchanged_new) <= comparison.unchanged <= unchanged_old + unchanged_new, sides
    nodes = [id(node) for row in rows for node in (row.old, row.new) if node is not None]
    assert len(set(nodes)) == len(nodes)
    # Whatever the texts say differently is in a row.
    assert rows or old.normalized() == new.normalized()
    return comparison


def _leaves_of(node: OutlineNode | None) -> int:
    return int(node is not None and not node.children)


def check_itself(schema: ParsedSchema) -> None:
    """A schema has no change from itself."""
    comparison = compare(Side(schema), Side(schema), budget=Budget(100_000_000))
    assert [row for row in comparison.changes if row.what or not row.findings] == []
    in_rows = sum(_leaves_of(row.new) for row in comparison.changes)
    assert comparison.unchanged + in_rows == leaves(outline_of(schema))


def check_outline(outline: Outline) -> None:
    """The paths of an outline are different, its count is right, and its references lead to its nodes."""
    nodes = list(outline.root.walk())
    paths = Counter(node.path for node in nodes)
    assert len(nodes) == outline.nodes
    assert [path for path, count in paths.items() if count > 1] == []
    targets = {node.reference.path for node in nodes if node.reference is not None}
    assert targets - {None} <= paths.keys()
