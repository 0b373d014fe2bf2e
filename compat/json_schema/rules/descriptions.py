"""The reference's descriptions of differences, word for word; groups of rules share them."""

from __future__ import annotations

ADDED = "The keyword at path '{path}' in the {reader} schema is not present in the {writer} schema"
INCREASED = "The value at path '{path}' in the {reader} schema is more than its value in the {writer} schema"
DECREASED = "The value at path '{path}' in the {reader} schema is less than its value in the {writer} schema"
DIFFERENT = "The value at path '{path}' is different between the {reader} and {writer} schema"
FEWER = "An array or combined type at path '{path}' has fewer elements in the {reader} schema than the {writer} schema"
MORE = "An array or combined type at path '{path}' has more elements in the {reader} schema than the {writer} schema"
TYPE = "A type at path '{path}' is different between the {reader} schema and the {writer} schema"
OPEN = (
    "The {reader} schema has an open content model and has a property or item at path '{path}' "
    "which is missing in the {writer} schema"
)
UNOPEN = (
    "The {reader} schema has an unopen content model and has a required property at path '{path}' "
    "which is missing in the {writer} schema"
)
CLOSED = (
    "The {reader} has a closed content model and is missing a property or item present at path '{path}' "
    "in the {writer} schema"
)
REMOVED_NOT_COVERED = (
    "A property or item is missing in the {reader} schema but present at path '{path}' in the {writer} schema "
    "and is not covered by its partially open content model"
)
ADDED_NOT_COVERED = (
    "The {reader} schema has a property or item at path '{path}' which is missing in the {writer} schema "
    "and is not covered by its partially open content model"
)
RESERVED_REMOVED = (
    "The {reader} schema has reserved property '{path}' removed from its metadata "
    "which is present in the {writer} schema."
)
RESERVED_CONFLICT = (
    "The {reader} schema has property at path '{path}' that conflicts with the reserved properties "
    "which is missing in the {writer} schema."
)
