"""Judges of strings, numbers, enums and annotations, which have no subschemas."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

from compat.json_schema.judges.judging import Change, first_keyword, keyword
from compat.json_schema.model.nodes import Const, Enum, Node, Number, String


def annotation_changes(old: Node, new: Node) -> Iterator[Change]:
    """ID_CHANGED, TITLE_CHANGED, DESCRIPTION_CHANGED, DEFAULT_CHANGED."""
    for name, before, after, words in (
        ("ID_CHANGED", old.id, new.id, ("$id", "id")),
        ("TITLE_CHANGED", old.title, new.title, ("title",)),
        ("DESCRIPTION_CHANGED", old.description, new.description, ("description",)),
        ("DEFAULT_CHANGED", old.default, new.default, ("default",)),
    ):
        if before != after:
            yield Change(name, (), (), first_keyword(new, words), first_keyword(old, words))


def bound(name: str, word: str, old: tuple[Node, Decimal | None], new: tuple[Node, Decimal | None]) -> Iterator[Change]:
    """The four rules of a numeric keyword: added, removed, increased, decreased."""
    (old_node, before), (new_node, after) = old, new
    if before == after:
        return
    if before is None:
        verdict = "ADDED"
    elif after is None:
        verdict = "REMOVED"
    else:
        verdict = "INCREASED" if after > before else "DECREASED"
    yield keyword(f"{name}_{verdict}", old_node, new_node, word)


def strings(old: String, new: String) -> Iterator[Change]:
    """MAX_LENGTH_*, MIN_LENGTH_*, PATTERN_*."""
    yield from bound("MAX_LENGTH", "maxLength", (old, old.max_length), (new, new.max_length))
    yield from bound("MIN_LENGTH", "minLength", (old, old.min_length), (new, new.min_length))
    if old.pattern != new.pattern:
        verdict = "ADDED" if old.pattern is None else "REMOVED" if new.pattern is None else "CHANGED"
        yield keyword(f"PATTERN_{verdict}", old, new, "pattern")


def numbers(old: Number, new: Number) -> Iterator[Change]:
    """MAXIMUM_*, MINIMUM_*, EXCLUSIVE_*, MULTIPLE_OF_*, TYPE_EXTENDED, TYPE_NARROWED."""
    yield from bound("MAXIMUM", "maximum", (old, old.maximum), (new, new.maximum))
    yield from bound("MINIMUM", "minimum", (old, old.minimum), (new, new.minimum))
    yield from bound(
        "EXCLUSIVE_MAXIMUM", "exclusiveMaximum", (old, old.exclusive_maximum), (new, new.exclusive_maximum)
    )
    yield from bound(
        "EXCLUSIVE_MINIMUM", "exclusiveMinimum", (old, old.exclusive_minimum), (new, new.exclusive_minimum)
    )
    yield from _multiples(old, new)
    if old.integer != new.integer:
        yield Change(
            "TYPE_EXTENDED" if old.integer else "TYPE_NARROWED", (), (), new.keyword("type"), old.keyword("type")
        )


def _multiples(old: Number, new: Number) -> Iterator[Change]:
    if old.multiple_of == new.multiple_of:
        return
    if old.multiple_of is None:
        verdict = "ADDED"
    elif new.multiple_of is None:
        verdict = "REMOVED"
    else:
        ratio = Fraction(new.multiple_of) / Fraction(old.multiple_of)
        verdict = "EXPANDED" if ratio.denominator == 1 else "REDUCED" if abs(ratio.numerator) == 1 else "CHANGED"
    yield keyword(f"MULTIPLE_OF_{verdict}", old, new, "multipleOf")


def enums(old: Enum, new: Enum) -> Iterator[Change]:
    """ENUM_ARRAY_EXTENDED, ENUM_ARRAY_NARROWED, ENUM_ARRAY_CHANGED."""
    if old.values != new.values:
        verdict = "EXTENDED" if new.values > old.values else "NARROWED" if new.values < old.values else "CHANGED"
        yield keyword(f"ENUM_ARRAY_{verdict}", old, new, "enum")


def consts(old: Const, new: Const) -> Iterator[Change]:
    """ENUM_ARRAY_CHANGED for a `const`."""
    if old.value != new.value:
        yield keyword("ENUM_ARRAY_CHANGED", old, new, "const")


def nothing(_old: Node, _new: Node) -> Iterator[Change]:
    """For kinds in which only annotations are compared."""
    yield from ()
