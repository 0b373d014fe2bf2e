"""Judges of arrays: items, tuple, content model, sizes, uniqueness and contains, in the reference's order."""

from __future__ import annotations

from dataclasses import replace

from compat.json_schema.judges import content
from compat.json_schema.judges.judging import ANY_ITEM, Ask, Change, Judge, first_keyword, keyword
from compat.json_schema.judges.values import bound
from compat.json_schema.model.nodes import Array, Empty, Node


def arrays(old: Array, new: Array) -> Judge:
    """All differences between two array schemas."""
    yield from _all_items(old, new)
    yield from _tuple(old, new)
    after_tuple = (max(len(old.items), len(new.items)),)
    yield from content.additional_content(content.additional_items(old), content.additional_items(new), after_tuple)
    yield from content.additional_content(content.unevaluated_items(old), content.unevaluated_items(new), after_tuple)
    yield from bound("MAX_ITEMS", "maxItems", (old, old.max_items), (new, new.max_items))
    yield from bound("MIN_ITEMS", "minItems", (old, old.min_items), (new, new.min_items))
    if old.unique_items != new.unique_items:
        yield keyword(f"UNIQUE_ITEMS_{'REMOVED' if old.unique_items else 'ADDED'}", old, new, "uniqueItems")
    yield from bound("MAX_CONTAINS", "maxContains", (old, old.max_contains), (new, new.max_contains))
    for change in bound("MIN_CONTAINS", "minContains", (old, old.min_contains), (new, new.min_contains)):
        # If the number is absent, `contains` implies that it is 1.
        words = ("minContains", "contains")
        yield replace(change, reader_at=first_keyword(new, words), writer_at=first_keyword(old, words))


def _all_items(old: Array, new: Array) -> Judge:
    """SCHEMA_ADDED, SCHEMA_REMOVED, and the changes between the schemas of all items."""
    before, after = old.all_items, new.all_items
    if before and after:
        yield Ask(before, after, ("items",), (ANY_ITEM,))
    elif before or after:
        rule = "SCHEMA_REMOVED" if before else "SCHEMA_ADDED"
        yield Change(rule, ("items",), (ANY_ITEM,), new.keyword("items"), old.keyword("items"))


def _tuple(old: Array, new: Array) -> Judge:
    shared = min(len(old.items), len(new.items))
    for index in range(shared):
        yield Ask(old.items[index], new.items[index], (f"items/{index}",), (index,))
    for index in range(shared, len(old.items)):
        unnamed = Change("", (f"items/{index}",), (index,), writer_at=old.items[index].at)
        yield from _removed_item(old.items[index], new, unnamed)
    for index in range(shared, len(new.items)):
        unnamed = Change("", (f"items/{index}",), (index,), reader_at=new.items[index].at)
        yield from _added_item(old, new.items[index], unnamed)


def _removed_item(before: Node, new: Array, unnamed: Change) -> Judge:
    """ITEM_REMOVED_*, depending on the new schema's content model."""
    if content.is_open(new):
        yield _named(unnamed, "ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL")
    else:
        yield from content.removed("ITEM", before, content.covering(new), unnamed)


def _added_item(old: Array, after: Node, unnamed: Change) -> Judge:
    """ITEM_ADDED_*, depending on the old schema's content model."""
    cover = content.covering(old)
    if content.is_open(old):
        kind = "ITEM_WITH_EMPTY_SCHEMA_ADDED" if isinstance(after, Empty) else "ITEM_ADDED"
        yield _named(unnamed, f"{kind}_TO_OPEN_CONTENT_MODEL")
    elif cover is not None:
        yield from content.added("ITEM", after, cover, unnamed)
    else:
        yield _named(unnamed, "ITEM_ADDED_TO_CLOSED_CONTENT_MODEL")


def _named(unnamed: Change, rule: str) -> Change:
    return Change(rule, unnamed.path, unnamed.route, unnamed.reader_at, unnamed.writer_at)
