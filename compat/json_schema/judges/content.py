"""Content models: the parts of an object or array that its schema allows without naming them."""

from __future__ import annotations

from dataclasses import dataclass

from compat.json_schema.judges.judging import Ask, Change, Judge
from compat.json_schema.model.metaschemas import finds
from compat.json_schema.model.nodes import Array, Empty, Never, Node, Object
from compat.schema import Pointer


@dataclass(frozen=True, slots=True)
class AdditionalContent:
    """A keyword for the parts that the schema does not name.

    Attributes:
        rules: The prefix of its rules' names.
        path: Its segment in paths.
        schema: True if everything is allowed (also without the keyword), False if nothing is, else the schema to match.
        at: Its place in the source.
    """

    rules: str
    path: str
    schema: Node | bool
    at: Pointer | None


def additional_properties(node: Object) -> AdditionalContent:
    """An object's additionalProperties."""
    return AdditionalContent(
        "ADDITIONAL_PROPERTIES", "additionalProperties", node.additional, node.keyword("additionalProperties")
    )


def additional_items(node: Array) -> AdditionalContent:
    """The keyword for an array's items after its tuple: additionalItems, or `items` in 2020-12."""
    at = node.keyword("additionalItems") or node.keyword("items")
    return AdditionalContent("ADDITIONAL_ITEMS", "additionalItems", node.additional, at)


def unevaluated_properties(node: Object) -> AdditionalContent:
    """An object's unevaluatedProperties."""
    return AdditionalContent(
        "UNEVALUATED_PROPERTIES",
        "unevaluatedProperties",
        _flag(node.unevaluated),
        node.keyword("unevaluatedProperties"),
    )


def unevaluated_items(node: Array) -> AdditionalContent:
    """An array's unevaluatedItems."""
    return AdditionalContent(
        "UNEVALUATED_ITEMS", "unevaluatedItems", _flag(node.unevaluated), node.keyword("unevaluatedItems")
    )


def _flag(node: Node | None) -> Node | bool:
    """An unevaluated keyword's schema; `true`, `{}` and absence count as the same, as in the reference."""
    if node is None or isinstance(node, Empty):
        return True
    return False if isinstance(node, Never) else node


def additional_content(old: AdditionalContent, new: AdditionalContent, route: tuple[str | int, ...]) -> Judge:
    """ADDED, REMOVED, EXTENDED and NARROWED for a keyword of a content model."""
    before, after = old.schema, new.schema
    verdict = None
    if (before is False) != (after is False):
        verdict = "ADDED" if before is False else "REMOVED"
    elif before is True and after is not True:
        verdict = "NARROWED"
    elif after is True and before is not True:
        verdict = "EXTENDED"
    elif isinstance(before, Node) and isinstance(after, Node):
        yield Ask(before, after, (new.path,), route)
    if verdict:
        yield Change(f"{new.rules}_{verdict}", (new.path,), route, new.at, old.at)


def is_open(node: Object | Array) -> bool:
    """Whether the schema allows all parts that it does not name."""
    patterns = node.patterns if isinstance(node, Object) else ()
    return node.additional is True and not patterns and _flag(node.unevaluated) is True


def covering(node: Object | Array, name: str | None = None) -> Node | None:
    """The schema for unnamed parts: a matching pattern's schema, else the additional or the unevaluated one.

    None if the content model is open or closed.
    """
    if isinstance(node, Object) and name is not None:
        for pattern, schema in node.patterns:
            if finds(pattern, name):
                return schema
    if isinstance(node.additional, Node):
        return node.additional
    unevaluated = _flag(node.unevaluated)
    return unevaluated if node.additional is True and isinstance(unevaluated, Node) else None


def removed(thing: str, old: Node, cover: Node | None, unnamed: Change) -> Judge:
    """A removed property or item, if the new schema's content model is not open."""
    if cover is not None:
        covered = yield Ask(old, cover, unnamed.path, unnamed.route)
        verdict = "REMOVED_IS_COVERED_BY_PARTIALLY_OPEN" if covered else "REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN"
    else:
        verdict = "WITH_FALSE_REMOVED_FROM_CLOSED" if isinstance(old, Never) else "REMOVED_FROM_CLOSED"
    yield Change(f"{thing}_{verdict}_CONTENT_MODEL", unnamed.path, unnamed.route, unnamed.reader_at, unnamed.writer_at)


def added(thing: str, new: Node, cover: Node, unnamed: Change) -> Judge:
    """An added property or item, if the old schema's content model has a schema for such parts."""
    covered = yield Ask(cover, new, unnamed.path, unnamed.route)
    verdict = "ADDED_IS_COVERED" if covered else "ADDED_NOT_COVERED"
    yield Change(
        f"{thing}_{verdict}_BY_PARTIALLY_OPEN_CONTENT_MODEL",
        unnamed.path,
        unnamed.route,
        unnamed.reader_at,
        unnamed.writer_at,
    )
