"""Judges of arrays: items, the tuple, content model, sizes, uniqueness and contains; in the reference's order."""

from __future__ import annotations

from dataclasses import replace

from compat.json_schema.judges import content
from compat.json_schema.judges.judging import ANY_ITEM, Ask, Found, Judge, first_keyword, keyword
from compat.json_schema.judges.values import bound
from compat.json_schema.model.nodes import Array, Empty, Node


def arrays(old: Array, new: Array) -> Judge:
    """All differences between two array schemas."""
    yield from _all_items(old, new)
    yield from _tuple(old, new)
    after_tuple = (max(len(old.items), len(new.items)),)
    yield from content.beside(content.additional_items(old), content.additional_items(new), after_tuple)
    yield from content.beside(content.unevaluated_items(old), content.unevaluated_items(new), after_tuple)
    yield from bound("MAX_ITEMS", "maxItems", (old, old.max_items), (new, new.max_items))
    yield from bound("MIN_ITEMS", "minItems", (old, old.min_items), (new, new.min_items))
    if old.unique_items != new.unique_items:
        yield keyword(f"UNIQUE_ITEMS_{'REMOVED' if old.unique_items else 'ADDED'}", old, new, "uniqueItems")
    yield from bound("MAX_CONTAINS", "maxContains", (old, old.max_contains), (new, new.max_contains))
    for found in bound("MIN_CONTAINS", "minContains", (old, old.min_contains), (new, new.min_contains)):
        # Where the number is not written, `contains` says that it is 1.
        words = ("minContains", "contains")
        yield replace(found, reader_at=first_keyword(new, words), writer_at=first_keyword(old, words))


def _all_items(old: Array, new: Array) -> Judge:
    """SCHEMA_ADDED, SCHEMA_REMOVED and what differs between the schemas of all items."""
    before, after = old.all_items, new.all_items
    if before and after:
        yield Ask(before, after, ("items",), (ANY_ITEM,))
    elif before or after:
        rule = "SCHEMA_REMOVED" if before else "SCHEMA_ADDED"
        yield Found(rule, ("items",), (ANY_ITEM,), new.keyword("items"), old.keyword("items"))


def _tuple(old: Array, new: Array) -> Judge:
    shared = min(len(old.items), len(new.items))
    for index in range(shared):
        yield Ask(old.items[index], new.items[index], (f"items/{index}",), (index,))
    for index in range(shared, len(old.items)):
        here = Found("", (f"items/{index}",), (index,), writer_at=old.items[index].at)
        yield from _removed_item(old.items[index], new, here)
    for index in range(shared, len(new.items)):
        here = Found("", (f"items/{index}",), (index,), reader_at=new.items[index].at)
        yield from _added_item(old, new.items[index], here)


def _removed_item(before: Node, new: Array, here: Found) -> Judge:
    """ITEM_REMOVED_*: the new schema's content model decides."""
    if content.is_open(new):
        yield _named(here, "ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL")
    else:
        yield from content.removed("ITEM", before, content.covering(new), here)


def _added_item(old: Array, after: Node, here: Found) -> Judge:
    """ITEM_ADDED_*: the old schema's content model decides."""
    cover = content.covering(old)
    if content.is_open(old):
        kind = "ITEM_WITH_EMPTY_SCHEMA_ADDED" if isinstance(after, Empty) else "ITEM_ADDED"
        yield _named(here, f"{kind}_TO_OPEN_CONTENT_MODEL")
    elif cover is not None:
        yield from content.added("ITEM", after, cover, here)
    else:
        yield _named(here, "ITEM_ADDED_TO_CLOSED_CONTENT_MODEL")


def _named(here: Found, rule: str) -> Found:
    return Found(rule, here.path, here.route, here.reader_at, here.writer_at)
