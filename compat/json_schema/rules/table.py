"""Every kind of difference between two JSON Schemas, with its policies, description, harm and remedy.

The names, policies and descriptions are the reference's, word for word. A rule that every policy allows has no
explanation.
"""

from __future__ import annotations

from collections.abc import Iterator

from compat.difference import NEVER, Rule
from compat.json_schema.rules.content_rules import breaking, harmless, item_rules, property_rules
from compat.json_schema.rules.descriptions import ADDED, DECREASED, DIFFERENT, FEWER, INCREASED, MORE, TYPE

#: Keywords by the prefix of their rules' names, and the values that they refuse.
_LOWER = {
    "MIN_LENGTH": ("minLength", "shorter strings"),
    "MINIMUM": ("minimum", "smaller numbers"),
    "EXCLUSIVE_MINIMUM": ("exclusiveMinimum", "smaller numbers"),
    "MIN_PROPERTIES": ("minProperties", "objects with fewer properties"),
    "MIN_ITEMS": ("minItems", "shorter arrays"),
    "MIN_CONTAINS": ("minContains", "arrays with fewer matching items"),
}
_UPPER = {
    "MAX_LENGTH": ("maxLength", "longer strings"),
    "MAXIMUM": ("maximum", "greater numbers"),
    "EXCLUSIVE_MAXIMUM": ("exclusiveMaximum", "greater numbers"),
    "MAX_PROPERTIES": ("maxProperties", "objects with more properties"),
    "MAX_ITEMS": ("maxItems", "longer arrays"),
    "MAX_CONTAINS": ("maxContains", "arrays with more matching items"),
}


def _bounds() -> Iterator[Rule]:
    for bounds, tighter, looser, description in (
        (_LOWER, "INCREASED", "DECREASED", INCREASED),
        (_UPPER, "DECREASED", "INCREASED", DECREASED),
    ):
        for name, (keyword, refused) in bounds.items():
            yield breaking(
                f"{name}_ADDED",
                NEVER,
                ADDED,
                f"The {{reader}} schema refuses {refused} than its {keyword}; the {{writer}} schema set no bound.",
                f"Leave {keyword} out, and check the bound in the application.",
            )
            yield breaking(
                f"{name}_{tighter}",
                NEVER,
                description,
                f"The {{reader}} schema refuses {refused} than its {keyword}, which the {{writer}} schema allowed.",
                f"Keep {keyword} as it was, or loosen it.",
            )
            yield from harmless(f"{name}_{looser}", f"{name}_REMOVED")


def _annotations_and_types() -> Iterator[Rule]:
    yield from harmless("ID_CHANGED", "DESCRIPTION_CHANGED", "TITLE_CHANGED", "DEFAULT_CHANGED")
    yield breaking(
        "SCHEMA_ADDED",
        NEVER,
        "",
        "The {reader} schema restricts what the {writer} schema left free at '{path}'.",
        "Leave the schema out there.",
    )
    yield from harmless("SCHEMA_REMOVED", "TYPE_EXTENDED")
    yield breaking(
        "TYPE_NARROWED",
        NEVER,
        TYPE,
        "The {reader} schema accepts whole numbers only; the {writer} schema allowed fractions.",
        "Keep `number`.",
    )
    yield breaking(
        "TYPE_CHANGED",
        NEVER,
        TYPE,
        "The {reader} schema wants another kind of value at '{path}' than the {writer} schema.",
        "Keep the type, or offer both with `anyOf` or an array of types; for a new meaning add a new property.",
    )


def _values() -> Iterator[Rule]:
    yield breaking(
        "PATTERN_ADDED",
        NEVER,
        ADDED,
        "The {reader} schema refuses strings that do not match its pattern; the {writer} schema had none.",
        "Leave the pattern out, and check it in the application.",
    )
    yield from harmless("PATTERN_REMOVED")
    yield breaking(
        "PATTERN_CHANGED",
        NEVER,
        DIFFERENT,
        "Strings that match the {writer} schema's pattern may not match the {reader} schema's; "
        "patterns are compared as texts, not by what they match.",
        "Keep the pattern, or remove it.",
    )
    yield breaking(
        "MULTIPLE_OF_ADDED",
        NEVER,
        ADDED,
        "The {reader} schema refuses numbers that are no multiple of its multipleOf; the {writer} schema had none.",
        "Leave multipleOf out.",
    )
    yield from harmless("MULTIPLE_OF_REMOVED")
    yield breaking(
        "MULTIPLE_OF_EXPANDED",
        NEVER,
        INCREASED,
        "The {reader} schema takes coarser steps: it refuses multiples of the {writer} schema's multipleOf.",
        "Keep multipleOf, or make it a divisor of what it was.",
    )
    yield from harmless("MULTIPLE_OF_REDUCED")
    yield breaking(
        "MULTIPLE_OF_CHANGED",
        NEVER,
        DIFFERENT,
        "Multiples of the {writer} schema's multipleOf need not be multiples of the {reader} schema's.",
        "Keep multipleOf, or make it a divisor of what it was.",
    )
    yield from harmless("ENUM_ARRAY_EXTENDED")
    yield breaking(
        "ENUM_ARRAY_NARROWED",
        NEVER,
        FEWER,
        "The {reader} schema refuses values that the {writer} schema lists.",
        "Keep all values in the enum, and stop writing those that are out of use.",
    )
    yield breaking(
        "ENUM_ARRAY_CHANGED",
        NEVER,
        TYPE,
        "The {reader} schema lists other values than the {writer} schema.",
        "Keep the former values beside the new ones; keep a const as it was.",
    )


def _combined() -> Iterator[Rule]:
    yield from harmless("COMBINED_TYPE_EXTENDED")
    yield breaking(
        "COMBINED_TYPE_CHANGED",
        NEVER,
        TYPE,
        "The {reader} schema combines its members by another criterion than the {writer} schema.",
        "Keep the combinator, or change it to anyOf.",
    )
    yield breaking(
        "PRODUCT_TYPE_EXTENDED",
        NEVER,
        MORE,
        "The {reader} schema wants all members of a longer allOf to match.",
        "Keep the members of the allOf, or remove some.",
    )
    yield from harmless("PRODUCT_TYPE_NARROWED", "SUM_TYPE_EXTENDED")
    yield breaking(
        "SUM_TYPE_NARROWED",
        NEVER,
        FEWER,
        "The {reader} schema offers fewer alternatives: it refuses what only the missing ones accepted.",
        "Keep all alternatives, and stop writing those that are out of use.",
    )
    yield breaking(
        "COMBINED_TYPE_SUBSCHEMAS_CHANGED",
        NEVER,
        TYPE,
        "The members of the two combined schemas cannot be paired so that each reads its partner.",
        "Change members only in ways that are compatible one by one, and add alternatives rather than replace them.",
    )
    yield from harmless("NOT_TYPE_NARROWED")
    yield breaking(
        "NOT_TYPE_EXTENDED",
        NEVER,
        MORE,
        "The {reader} schema forbids more than the {writer} schema.",
        "Keep the schema under `not`, or let it match less.",
    )


#: All rules by name.
RULES = {
    rule.name: rule
    for rules in (_annotations_and_types, _bounds, _values, property_rules, item_rules, _combined)
    for rule in rules()
}
