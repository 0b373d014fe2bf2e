"""The rules of content models: the named, required and additional parts of objects and arrays."""

from __future__ import annotations

from collections.abc import Iterator

from compat.difference import LENIENT_ONLY, NEVER, STRICT_AND_LENIENT, Rule
from compat.json_schema.rules.descriptions import (
    ADDED,
    ADDED_NOT_COVERED,
    CLOSED,
    DIFFERENT,
    FEWER,
    MORE,
    OPEN,
    REMOVED_NOT_COVERED,
    RESERVED_CONFLICT,
    RESERVED_REMOVED,
    UNOPEN,
)
from compat.level import Policy

_CHANGE = "At '{path}' the {reader} schema has {reader_value}, the {writer} schema {writer_value}."


def harmless(*names: str) -> Iterator[Rule]:
    """Rules that every policy allows and that need no explanation."""
    for name in names:
        yield Rule(name, STRICT_AND_LENIENT)


def breaking(
    name: str,
    allowed: frozenset[Policy],
    description: str,
    harm: str,
    remedy: str,
    writer_remedy: str = (
        "Let the {writer} schema accept no more at '{path}' than the {reader} schema: schemas in use cannot be changed."
    ),
) -> Rule:
    """A rule that some policy does not allow; `writer_remedy` applies if the new schema is the writer."""
    return Rule(name, allowed, description, _CHANGE, harm, remedy, writer_remedy)


def _content(name: str, keyword: str, things: str, allowed: frozenset[Policy]) -> Iterator[Rule]:
    """The four rules of a keyword for parts that the schema does not name."""
    lenient = "; or choose the LENIENT policy if readers skip what they do not know" if allowed else ""
    yield from harmless(f"{name}_ADDED", f"{name}_EXTENDED")
    yield breaking(
        f"{name}_REMOVED",
        allowed,
        ADDED,
        f"The {{reader}} schema refuses {things} that it does not describe; the {{writer}} schema allowed them.",
        f"Keep {keyword} open{lenient}.",
    )
    yield breaking(
        f"{name}_NARROWED",
        allowed,
        FEWER,
        f"The {{reader}} schema wants {things} that it does not describe to match a schema; "
        "the {writer} schema allowed any.",
        f"Keep {keyword} free of a schema{lenient}.",
    )


def property_rules() -> Iterator[Rule]:
    """The rules for the contents of objects."""
    yield breaking(
        "REQUIRED_ATTRIBUTE_ADDED",
        NEVER,
        ADDED,
        "The {reader} schema refuses objects without the property; the {writer} schema let it be absent.",
        "Give the property a default, or leave it optional.",
        "Keep the property required in the {writer} schema.",
    )
    yield from harmless("REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED", "REQUIRED_ATTRIBUTE_REMOVED")
    yield breaking(
        "DEPENDENCY_ARRAY_ADDED",
        NEVER,
        ADDED,
        "Where the property occurs the {reader} schema requires others that the {writer} schema did not ask for.",
        "Leave the dependency out.",
    )
    yield from harmless("DEPENDENCY_ARRAY_REMOVED", "DEPENDENCY_ARRAY_NARROWED")
    yield breaking(
        "DEPENDENCY_ARRAY_EXTENDED",
        NEVER,
        MORE,
        "Where the property occurs the {reader} schema requires more others than the {writer} schema.",
        "Keep the dependency's list as it was, or shorten it.",
    )
    yield breaking(
        "DEPENDENCY_ARRAY_CHANGED",
        NEVER,
        DIFFERENT,
        "Where the property occurs the {reader} schema requires other properties than the {writer} schema.",
        "Keep the dependency's list as it was, or shorten it.",
    )
    yield breaking(
        "DEPENDENCY_SCHEMA_ADDED",
        NEVER,
        ADDED,
        "Where the property occurs the {reader} schema puts a schema on the object; the {writer} schema did not.",
        "Leave the dependency out.",
    )
    yield from harmless("DEPENDENCY_SCHEMA_REMOVED")
    yield from _content("ADDITIONAL_PROPERTIES", "additionalProperties", "properties", LENIENT_ONLY)
    yield from _content("UNEVALUATED_PROPERTIES", "unevaluatedProperties", "properties", LENIENT_ONLY)
    yield from _added_properties()
    yield from _removed_properties()
    yield breaking(
        "RESERVED_PROPERTY_REMOVED",
        NEVER,
        RESERVED_REMOVED,
        "Writers may still use it.",
        "Keep the name in the list of reserved ones.",
    )
    yield breaking(
        "RESERVED_PROPERTY_CONFLICTS_WITH_PROPERTY",
        NEVER,
        RESERVED_CONFLICT,
        "The name is kept free.",
        "Choose another name.",
    )


def _added_properties() -> Iterator[Rule]:
    open_harm = (
        "The {writer} schema was open, so its data may hold anything under this name, also what the {reader} schema's "
        "property refuses."
    )
    close = (
        "Give the property the schema `true`; or go on in a new subject with a closed content model "
        '("additionalProperties": false), to which properties can be added'
    )
    keep = "Keep the property in the {writer} schema: readers in use know it."
    lenient = "; or choose the LENIENT policy if nobody writes properties that no schema names"
    # Servers before 8.x report all three kinds under this name; 8.x servers have a name for each kind.
    yield breaking("PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL", NEVER, OPEN, open_harm, f"{close}.", keep)
    yield breaking(
        "REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL",
        NEVER,
        OPEN,
        "The {reader} schema refuses objects without the property, which the {writer} schema did not know. "
        f"{open_harm}",
        "Make the property optional, or give it a default. " + f"{close}.",
        "Keep the property in the {writer} schema, and required: readers in use need it.",
    )
    for kind in ("REQUIRED_PROPERTY_WITH_DEFAULT_ADDED", "OPTIONAL_PROPERTY_ADDED"):
        yield breaking(f"{kind}_TO_OPEN_CONTENT_MODEL", LENIENT_ONLY, OPEN, open_harm, f"{close}{lenient}.", keep)
    yield from harmless("PROPERTY_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL")
    yield breaking(
        "REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL",
        NEVER,
        UNOPEN,
        "The {reader} schema refuses objects without the property, and the {writer} schema did not know it.",
        "Give the property a default, or leave it optional.",
        "Keep the property in the {writer} schema, and required: readers in use need it.",
    )
    yield from harmless(
        "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_UNOPEN_CONTENT_MODEL",
        "OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL",
        "PROPERTY_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
    )
    yield breaking(
        "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
        LENIENT_ONLY,
        ADDED_NOT_COVERED,
        "The {writer} schema let other properties match a schema of its own, under this name too; the {reader} "
        "schema's property refuses some of that.",
        "Let the property accept all that the {writer} schema's additionalProperties or patternProperties accepted.",
    )


def _removed_properties() -> Iterator[Rule]:
    yield from harmless(
        "PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL", "PROPERTY_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL"
    )
    yield breaking(
        "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL",
        LENIENT_ONLY,
        CLOSED,
        "The {reader} schema is closed and refuses objects that hold the property, which the {writer} schema named.",
        "Keep the property as an optional one, or open the content model; or choose the LENIENT policy if readers "
        "skip what they do not know.",
        "Leave the property out of the {writer} schema: readers in use are closed.",
    )
    yield from harmless("PROPERTY_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL")
    yield breaking(
        "PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
        LENIENT_ONLY,
        REMOVED_NOT_COVERED,
        "What the {writer} schema's property held must now match the {reader} schema's additionalProperties or "
        "patternProperties, and need not.",
        "Keep the property as an optional one, or let the covering schema accept what it held.",
    )


def item_rules() -> Iterator[Rule]:
    """The rules for the contents of arrays."""
    yield breaking(
        "UNIQUE_ITEMS_ADDED",
        NEVER,
        ADDED,
        "The {reader} schema refuses arrays with equal items; the {writer} schema allowed them.",
        "Leave uniqueItems out.",
    )
    yield from harmless("UNIQUE_ITEMS_REMOVED")
    yield from _content("ADDITIONAL_ITEMS", "additional items", "items", NEVER)
    yield from _content("UNEVALUATED_ITEMS", "unevaluatedItems", "items", NEVER)
    yield breaking(
        "ITEM_ADDED_TO_OPEN_CONTENT_MODEL",
        NEVER,
        OPEN,
        "The {writer} schema was open, so its data may hold anything at this place, also what the {reader} schema's "
        "item refuses.",
        "Give the item the schema `true`; or close the tuple before items are added.",
        "Keep the item in the {writer} schema: readers in use know it.",
    )
    yield from harmless(
        "ITEM_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL",
        "ITEM_ADDED_TO_CLOSED_CONTENT_MODEL",
        "ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL",
        "ITEM_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL",
    )
    yield breaking(
        "ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL",
        NEVER,
        CLOSED,
        "The {reader} schema refuses arrays that hold the item, which the {writer} schema described.",
        "Keep the item, or allow additional items.",
        "Leave the item out of the {writer} schema: readers in use are closed.",
    )
    yield from harmless("ITEM_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL")
    yield breaking(
        "ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
        NEVER,
        REMOVED_NOT_COVERED,
        "What the {writer} schema's item held must now match the {reader} schema's additional items, and need not.",
        "Keep the item, or let additional items accept what it held.",
    )
    yield from harmless("ITEM_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL")
    yield breaking(
        "ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
        NEVER,
        ADDED_NOT_COVERED,
        "The {writer} schema let additional items match a schema of its own, at this place too; the {reader} schema's "
        "item refuses some of that.",
        "Let the item accept all that the {writer} schema's additional items accepted.",
    )
