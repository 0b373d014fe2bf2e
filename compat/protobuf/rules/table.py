"""The kinds of differences between two Protobuf schemas, with the reference's names and words.

The judges that report them are in `judges`.
"""

from __future__ import annotations

from compat.difference import NEVER, STRICT_AND_LENIENT, Rule

PACKAGE_CHANGED = Rule(
    "PACKAGE_CHANGED",
    NEVER,
    description="The package at '{path}' in the {reader} schema does not match the package in the {writer} schema",
    change="The package is {reader_package} in the {reader} schema and {writer_package} in the {writer} schema.",
    harm="Every message has another full name, so readers that look messages up by name do not find them.",
    remedy="Keep the package {writer_package}.",
    writer_remedy="Keep the package {reader_package}.",
)
MESSAGE_ADDED = Rule(
    "MESSAGE_ADDED",
    STRICT_AND_LENIENT,
    change="The {reader} schema has the message {name}, the {writer} schema has not.",
)
MESSAGE_MOVED = Rule(
    "MESSAGE_MOVED", STRICT_AND_LENIENT, change="The message {name} stands at another place among the messages."
)
MESSAGE_REMOVED = Rule(
    "MESSAGE_REMOVED",
    NEVER,
    description="The {reader} schema is missing a MESSAGE type at path '{path}' in the {writer} schema",
    change="The {writer} schema has the message {name}, the {reader} schema has not.",
    harm="A reader has no type for data that was written as {name}.",
    remedy="Keep the message {name}.",
    writer_remedy="Leave out the message {name} until all readers have it.",
)
ENUM_ADDED = Rule(
    "ENUM_ADDED", STRICT_AND_LENIENT, change="The {reader} schema has the enum {name}, the {writer} schema has not."
)
ENUM_REMOVED = Rule(
    "ENUM_REMOVED", STRICT_AND_LENIENT, change="The {writer} schema has the enum {name}, the {reader} schema has not."
)
ENUM_CONST_ADDED = Rule(
    "ENUM_CONST_ADDED",
    STRICT_AND_LENIENT,
    change="The {reader} schema has the enum value {name}, the {writer} schema has not.",
)
ENUM_CONST_CHANGED = Rule(
    "ENUM_CONST_CHANGED",
    STRICT_AND_LENIENT,
    change="The enum value {writer_name} of the {writer} schema is called {reader_name} in the {reader} schema.",
)
ENUM_CONST_REMOVED = Rule(
    "ENUM_CONST_REMOVED",
    STRICT_AND_LENIENT,
    change="The {writer} schema has the enum value {name}, the {reader} schema has not.",
)
FIELD_ADDED = Rule(
    "FIELD_ADDED", STRICT_AND_LENIENT, change="The {reader} schema has the field {name}, the {writer} schema has not."
)
FIELD_REMOVED = Rule(
    "FIELD_REMOVED", STRICT_AND_LENIENT, change="The {writer} schema has the field {name}, the {reader} schema has not."
)
FIELD_NAME_CHANGED = Rule(
    "FIELD_NAME_CHANGED",
    STRICT_AND_LENIENT,
    change="The field {writer_name} of the {writer} schema is called {reader_name} in the {reader} schema.",
)
FIELD_KIND_CHANGED = Rule(
    "FIELD_KIND_CHANGED",
    NEVER,
    description="The type of a field at path '{path}' in the {reader} schema does not match the {writer} schema",
    change="The field {name} is of type {reader_type} in the {reader} schema and {writer_type} in the {writer} schema.",
    harm="A reader expects {reader_type} where {writer_type} was written: the value is lost or is read as garbage.",
    remedy="Keep the type {writer_type}, or add a field with another number for {reader_type}.",
    writer_remedy="Keep the type {reader_type}, or add a field with another number for {writer_type}.",
)
FIELD_SCALAR_KIND_CHANGED = Rule(
    "FIELD_SCALAR_KIND_CHANGED",
    NEVER,
    description=(
        "The kind of a SCALAR field at path '{path}' in the {reader} schema does not match its kind"
        " in the {writer} schema"
    ),
    change="The field {name} is of type {reader_type} in the {reader} schema and {writer_type} in the {writer} schema.",
    harm="The two types are encoded in different ways, so a reader loses the value or reads another one.",
    remedy="Keep {writer_type} or change to a type that is encoded alike ({writer_group}).",
    writer_remedy="Keep {reader_type} or change to a type that is encoded alike ({reader_group}).",
)
FIELD_NAMED_TYPE_CHANGED = Rule(
    "FIELD_NAMED_TYPE_CHANGED",
    NEVER,
    description=(
        "The type of a MESSAGE field at path '{path}' in the {reader} schema does not match its type"
        " in the {writer} schema"
    ),
    change="The field {name} is of type {reader_type} in the {reader} schema and {writer_type} in the {writer} schema.",
    harm="A reader takes the message that was written for another one, or for another version of it that does not fit.",
    remedy="Keep the type {writer_type} in a compatible version, or add a field with another number for {reader_type}.",
    writer_remedy="Keep the type {reader_type} in a compatible version, or add a field with another number.",
)
FIELD_NUMERIC_LABEL_CHANGED = Rule(
    "FIELD_NUMERIC_LABEL_CHANGED",
    NEVER,
    description=(
        "The label for a NUMERIC field at path '{path}' in the {reader} schema does not match its label"
        " in the {writer} schema"
    ),
    change="The field {name} is {reader_label} in the {reader} schema and {writer_label} in the {writer} schema.",
    harm="Repeated numbers are packed into one value, which readers of single numbers do not read as a number.",
    remedy="Keep the label {writer_label}, or add a field with another number.",
    writer_remedy="Keep the label {reader_label}, or add a field with another number.",
)
FIELD_STRING_OR_BYTES_LABEL_CHANGED = Rule(
    "FIELD_STRING_OR_BYTES_LABEL_CHANGED",
    STRICT_AND_LENIENT,
    change="The field {name} is {reader_label} in the {reader} schema and {writer_label} in the {writer} schema.",
)
REQUIRED_FIELD_ADDED = Rule(
    "REQUIRED_FIELD_ADDED",
    NEVER,
    # two blanks, as in the reference
    description="A required field  at path '{path}' in the {reader} schema is missing in the {writer} schema",
    change="The {reader} schema requires the field {name}, which the {writer} schema does not have.",
    harm="A reader refuses every message, since none has the field.",
    remedy="Make the field {name} optional.",
    writer_remedy="Keep writing the field {name}.",
)
REQUIRED_FIELD_REMOVED = Rule(
    "REQUIRED_FIELD_REMOVED",
    NEVER,
    description="The {reader} schema is missing a required field at path: '{path}' in the {writer} schema",
    change="The {writer} schema requires the field {name}, which the {reader} schema does not have.",
    harm="What a reader writes on, every program with the {writer} schema refuses, since the field is missing.",
    remedy="Keep the field {name}.",
    writer_remedy="Make the field {name} optional, or leave it out.",
)
ONEOF_ADDED = Rule(
    "ONEOF_ADDED", STRICT_AND_LENIENT, change="The {reader} schema has the oneof {name}, the {writer} schema has not."
)
ONEOF_REMOVED = Rule(
    "ONEOF_REMOVED", STRICT_AND_LENIENT, change="The {writer} schema has the oneof {name}, the {reader} schema has not."
)
ONEOF_FIELD_ADDED = Rule(
    "ONEOF_FIELD_ADDED",
    STRICT_AND_LENIENT,
    change="The {reader} schema has the field {name} in a oneof, the {writer} schema has not.",
)
ONEOF_FIELD_REMOVED = Rule(
    "ONEOF_FIELD_REMOVED",
    NEVER,
    description="The {reader} schema is missing a oneof field at path '{path}' in the {writer} schema",
    change="The {writer} schema has the field {name} in the oneof {oneof}, the {reader} schema has not.",
    harm="Where {name} was written, a reader finds the oneof {oneof} empty and cannot tell that from nothing written.",
    remedy="Keep the field {name} in the oneof {oneof}.",
    writer_remedy="Leave the field {name} out until all readers have it.",
)
ONEOF_FIELD_MOVED_TO_TOP_LEVEL = Rule(
    "ONEOF_FIELD_MOVED_TO_TOP_LEVEL",
    STRICT_AND_LENIENT,
    change="The field {name} is in the oneof {oneof} of the {writer} schema and in none of the {reader} schema.",
)
MULTIPLE_FIELDS_MOVED_TO_ONEOF = Rule(
    "MULTIPLE_FIELDS_MOVED_TO_ONEOF",
    NEVER,
    description=(
        "Multiple fields in the oneof at path '{path}' in the {reader} schema are outside a oneof"
        " in the {writer} schema"
    ),
    change="The oneof {name} of the {reader} schema unites fields that are apart in the {writer} schema: {fields}.",
    harm="Where several of {fields} were written, a reader keeps the last of them and loses the others.",
    remedy="Move at most one existing field into a oneof; leave the others outside.",
    writer_remedy="Keep the fields {fields} in one oneof.",
)
FIELD_MOVED_TO_EXISTING_ONEOF = Rule(
    "FIELD_MOVED_TO_EXISTING_ONEOF",
    NEVER,
    description=(
        "A field in the oneof at path '{path}' in the {reader} schema is outside an existing oneof"
        " in the {writer} schema"
    ),
    change="The oneof {name} of the {reader} schema unites fields that are apart in the {writer} schema: {fields}.",
    harm="Where several of {fields} were written, a reader keeps the last of them and loses the others.",
    remedy="Leave the field outside of the existing oneof, or put it alone into a new one.",
    writer_remedy="Keep the fields {fields} in one oneof.",
)

RULES = {
    rule.name: rule
    for rule in (
        PACKAGE_CHANGED,
        MESSAGE_ADDED,
        MESSAGE_REMOVED,
        MESSAGE_MOVED,
        ENUM_ADDED,
        ENUM_REMOVED,
        ENUM_CONST_ADDED,
        ENUM_CONST_CHANGED,
        ENUM_CONST_REMOVED,
        FIELD_ADDED,
        FIELD_REMOVED,
        FIELD_NAME_CHANGED,
        FIELD_KIND_CHANGED,
        FIELD_SCALAR_KIND_CHANGED,
        FIELD_NAMED_TYPE_CHANGED,
        FIELD_NUMERIC_LABEL_CHANGED,
        FIELD_STRING_OR_BYTES_LABEL_CHANGED,
        REQUIRED_FIELD_ADDED,
        REQUIRED_FIELD_REMOVED,
        ONEOF_ADDED,
        ONEOF_REMOVED,
        ONEOF_FIELD_ADDED,
        ONEOF_FIELD_REMOVED,
        ONEOF_FIELD_MOVED_TO_TOP_LEVEL,
        MULTIPLE_FIELDS_MOVED_TO_ONEOF,
        FIELD_MOVED_TO_EXISTING_ONEOF,
    )
}
