"""The registry's data types: subjects and contexts, contents and versions, configs and modes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple, Self, TypeGuard

from msgspec import Struct

from compat.contracts.model import Metadata, RuleSet
from compat.schema import AVRO, Reference, SchemaText

DEFAULT_CONTEXT = "."
GLOBAL_CONTEXT = ".__GLOBAL"
#: The subjectPrefix of all subjects in every context.
ALL_CONTEXTS = ":*:"

LATEST = -1
#: The largest id and version number; both start at 1.
MAX_VERSION = 2**31 - 1

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_RESERVED_NAMES = frozenset({"__GLOBAL", "__EMPTY"})
#: As in the reference, the colon after a context may be missing if no name follows.
_QUALIFIED = re.compile(r":(\.[^:]*)(?::(.*))?", re.DOTALL)


def in_bounds(number: object) -> TypeGuard[int]:
    """Tell whether a value may be an id or a version."""
    return type(number) is int and 1 <= number <= MAX_VERSION


class SubjectName(NamedTuple):
    """A subject's context and its name within it; an empty name means the context itself."""

    context: str
    name: str

    def __str__(self) -> str:
        """The subject in wire form: qualified unless it is in the default context."""
        return self.name if self.context == DEFAULT_CONTEXT else f":{self.context}:{self.name}"


def parse_subject(text: str) -> SubjectName:
    """Split a subject into context and name; `:.:name` and an unqualified `name` are in the default context."""
    match = _QUALIFIED.fullmatch(text)
    return SubjectName(match[1], match[2] or "") if match else SubjectName(DEFAULT_CONTEXT, text)


def may_be_subject(subject: str, *, of_settings: bool) -> bool:
    """Tell whether a subject in wire form is valid; in the global context it is so only for settings."""
    context, name = parse_subject(subject)
    reserved = name in _RESERVED_NAMES or (context == GLOBAL_CONTEXT and not of_settings)
    return not reserved and not _CONTROL.search(subject)


def context_of(subject: str) -> str:
    """The context of a subject in wire form."""
    return parse_subject(subject).context if subject.startswith(":") else DEFAULT_CONTEXT


def in_context(context: str, name: str) -> str:
    """The wire form of a name in a context; a qualified name stays as it is."""
    return name if _QUALIFIED.fullmatch(name) else str(SubjectName(context, name))


def subject_in(context: str, name: str) -> str:
    """Do the same as `in_context`, and omit the qualifier of the default context."""
    return str(parse_subject(in_context(context, name)))


class Content(Struct, frozen=True):
    """The content of a schema id: the text and everything else that identifies a schema."""

    schema_type: str
    text: str
    references: tuple[Reference, ...] = ()
    metadata: Metadata | None = None
    rule_set: RuleSet | None = None

    @property
    def schema(self) -> SchemaText:
        """The part that a parser needs."""
        return SchemaText(self.schema_type, self.text, self.references)

    @property
    def is_blank(self) -> bool:
        """Tell whether the text is missing; the request then means the latest version's text."""
        return not self.text or self.text.isspace()

    def with_text(self, text: str) -> Content:
        """Return a copy of the content with another text."""
        return Content(self.schema_type, text, self.references, self.metadata, self.rule_set)


#: A content in memory. Most are plain Avro schemas; these are kept as text alone, which halves the memory around it.
Kept = Content | str


def kept_form(content: Content) -> Kept:
    """The form that a content has in memory."""
    return content.text if content == Content(AVRO, content.text) else content


class Version(Struct, frozen=True, gc=False):
    """One version of a subject.

    Attributes:
        subject: The subject in wire form.
        number: From 1.
        schema_id: The id within the subject's context.
        kept: The content, in the form that `kept_form` returns.
        deleted: True after a soft delete.
        timestamp: When the record was written, in ms since the epoch.
    """

    subject: str
    number: int
    schema_id: int
    kept: Kept
    deleted: bool
    timestamp: int

    @property
    def content(self) -> Content:
        """The content with the schema id."""
        return self.kept if isinstance(self.kept, Content) else Content(AVRO, self.kept)

    @property
    def text(self) -> str:
        """The content's text."""
        return self.kept.text if isinstance(self.kept, Content) else self.kept

    @property
    def schema_type(self) -> str:
        """The content's type."""
        return self.kept.schema_type if isinstance(self.kept, Content) else AVRO

    @property
    def references(self) -> tuple[Reference, ...]:
        """The content's references."""
        return self.kept.references if isinstance(self.kept, Content) else ()


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of a subject, of a context, or global ones; None means not set."""

    alias: str | None = None
    alias_for_deks: str | None = None
    normalize: bool | None = None
    validate_fields: bool | None = None
    validate_new_schemas: bool | None = None
    validate_rules: bool | None = None
    compatibility_level: str | None = None
    compatibility_policy: str | None = None
    compatibility_group: str | None = None
    default_metadata: Metadata | None = None
    override_metadata: Metadata | None = None
    default_rule_set: RuleSet | None = None
    override_rule_set: RuleSet | None = None

    def or_else(self, other: Config, *names: str) -> Config:
        """Return a copy with the fields it does not set taken from `other`: the named fields, or all."""
        missing = {
            field.name: getattr(other, field.name)
            for field in fields(self)
            if getattr(self, field.name) is None and (not names or field.name in names)
        }
        return replace(self, **missing)

    @property
    def edits_contents(self) -> bool:
        """Tell whether a registration merges metadata or rules of this config into the schema."""
        return any((self.default_metadata, self.override_metadata, self.default_rule_set, self.override_rule_set))

    def to_json(self) -> dict[str, Any]:
        """The fields that are set, by their names in GET answers and in the log."""
        return {
            name: value.to_json() if isinstance(value, Metadata | RuleSet) else value
            for field, name in CONFIG_NAMES.items()
            if (value := getattr(self, field)) is not None
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        """Read a config from its form in the log; unknown fields are ignored."""
        settings: dict[str, Any] = {field: value.get(name) for field, name in CONFIG_NAMES.items()}
        for field in ("default_metadata", "override_metadata"):
            settings[field] = Metadata.from_json(settings[field])
        for field in ("default_rule_set", "override_rule_set"):
            settings[field] = RuleSet.from_json(settings[field])
        return cls(**settings)


#: Field -> name in GET answers and in the log, in the reference's order.
CONFIG_NAMES = {
    "alias": "alias",
    "alias_for_deks": "aliasForDeks",
    "normalize": "normalize",
    "validate_fields": "validateFields",
    "validate_new_schemas": "validateNewSchemas",
    "validate_rules": "validateRules",
    "compatibility_level": "compatibilityLevel",
    "compatibility_policy": "compatibilityPolicy",
    "compatibility_group": "compatibilityGroup",
    "default_metadata": "defaultMetadata",
    "override_metadata": "overrideMetadata",
    "default_rule_set": "defaultRuleSet",
    "override_rule_set": "overrideRuleSet",
}


#: A compatibility policy of the reference that this registry does not have; if it is stored, STRICT applies.
LOGICAL_POLICY = "LOGICAL"


@dataclass(frozen=True, slots=True)
class Mode:
    """A mode: the operations that clients may use on subjects in it."""

    name: str
    #: Nothing may be written.
    read_only: bool = False
    #: Only registrations with an explicit id are accepted, and they are not checked.
    imports: bool = False
    #: It may be set only on the global context.
    global_only: bool = False

    @property
    def takes_registrations(self) -> bool:
        """Tell whether ordinary registrations are accepted."""
        return not (self.read_only or self.imports)


MODES = {
    mode.name: mode
    for mode in (
        Mode("READWRITE"),
        Mode("READONLY", read_only=True),
        Mode("READONLY_OVERRIDE", read_only=True),
        Mode("IMPORT", imports=True),
        Mode("FORWARD", imports=True, global_only=True),
    )
}
READWRITE = MODES["READWRITE"]
#: Set globally, it overrides the modes of all subjects and contexts.
READONLY_OVERRIDE = MODES["READONLY_OVERRIDE"]


@dataclass(frozen=True, slots=True)
class RuleOrigin:
    """The author and time of an access rule, in ms since the epoch; empty and 0 if its record does not say."""

    author: str = ""
    timestamp: int = 0


@dataclass(frozen=True, slots=True)
class MirrorMark:
    """The mark of a mirror: its epoch, which fences earlier mirrors, and the mirror's own notes, a JSON object."""

    epoch: int
    value: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Posted:
    """A mark of posted changes: the node, the offset it has posted up to, and the mark's own offset in the log."""

    node: str
    offset: int
    at: int
