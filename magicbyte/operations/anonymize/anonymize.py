"""Anonymous states, for reports of bugs: what is seen of names and texts are tokens, and verdicts stay as they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from msgspec.structs import replace as replaced

from compat.avro import AvroSchema
from compat.budget import TooMuchWork
from compat.protobuf import ProtobufSchema
from compat.schema import JSON, PROTOBUF, InvalidSchema, ParsedSchema, Reference
from magicbyte.kit.plural import plural
from magicbyte.operations.anonymize.avro_text import anonymous_avro
from magicbyte.operations.anonymize.contracts import AnonymousContracts
from magicbyte.operations.anonymize.json_schema_text import AnonymousJsonSchema, property_names
from magicbyte.operations.anonymize.protobuf_text import AnonymousProtobuf
from magicbyte.operations.anonymize.tokens import Tokens
from magicbyte.operations.comparison.meaning import StateVersions, parse_version
from magicbyte.operations.state import State
from registry.state.identity import guid_of
from registry.state.model import (
    DEFAULT_CONTEXT,
    GLOBAL_CONTEXT,
    Config,
    Content,
    Kept,
    Version,
    context_of,
    kept_form,
    parse_subject,
)

_NOTES = (
    "ids, versions, times, types, levels, modes, sizes, bounds and numbers in enum and const are kept",
    "comments, layout, and custom options of Protobuf are left out; rules are no expressions any more",
)
#: The ends of subjects that say what a topic's schema is for.
_ENDS = ("-key", "-value")


@dataclass(frozen=True, slots=True)
class Anonymized:
    """An anonymous state.

    Attributes:
        state: The state.
        notes: What was kept or could not be kept, each a sentence.
    """

    state: State
    notes: tuple[str, ...]


def anonymize(state: State, key: bytes) -> Anonymized:
    """Replace the names and texts of a state by tokens.

    Structure, and the verdicts on the compatibility of versions, stay. Equal names have equal tokens in every state
    that is anonymized under the key, so that two of them can be compared.

    Args:
        state: The state.
        key: The key of the tokens, of at least 16 bytes.

    Raises:
        ValueError: The key is shorter.
    """
    return _Anonymizing(state, key).anonymized()


class _Anonymizing:
    def __init__(self, state: State, key: bytes) -> None:
        self._state = state
        self._tokens = Tokens(key)
        self._versions = StateVersions(state)
        self._contracts = AnonymousContracts(self._tokens)
        self._protobuf = AnonymousProtobuf(self._tokens)
        json_texts = (version.text for version in state.versions.values() if version.schema_type == JSON)
        self._json = AnonymousJsonSchema(self._tokens, property_names(json_texts))
        self._reference_names: Mapping[str, Callable[[str], str]] = {
            JSON: self._json.uri,
            PROTOBUF: self._protobuf.path,
        }
        #: Context and anonymous content -> the content that it stands for.
        self._taken: dict[tuple[str, str, str], Kept] = {}
        self._unparsed = 0

    def anonymized(self) -> Anonymized:
        state = self._state
        versions = {key: self._version(version) for key, version in state.versions.items()}
        anonymous = State(
            {self._context(name): context for name, context in state.contexts.items()},
            {(version.subject, version.number): version for version in versions.values()},
            {self._settings_of(name): self._config(config) for name, config in state.configs.items()},
            {self._settings_of(name): mode for name, mode in state.modes.items()},
            state.passed_over,
        )
        notes: tuple[str, ...] = _NOTES
        if self._unparsed:
            notes += (f"{plural(self._unparsed, 'version')} with a text that does not parse: it became a token",)
        return Anonymized(anonymous, notes)

    def _version(self, version: Version) -> Version:
        content = version.content
        anonymous = Content(
            content.schema_type,
            self._text(version),
            tuple(self._reference(one, content.schema_type) for one in content.references),
            self._contracts.metadata(content.metadata),
            self._contracts.rule_set(content.rule_set),
        )
        subject = self._subject(version.subject)
        return replaced(version, subject=subject, kept=kept_form(self._distinct(version, anonymous)))

    def _distinct(self, version: Version, anonymous: Content) -> Content:
        """The content with spaces behind it if another one has become the same: each id keeps a content of its own."""
        context = context_of(version.subject)
        while True:
            owner = self._taken.setdefault((context, anonymous.schema_type, guid_of(anonymous)), version.kept)
            if owner == version.kept:
                return anonymous
            anonymous = anonymous.with_text(f"{anonymous.text} ")

    def _text(self, version: Version) -> str:
        try:
            schema = parse_version(self._versions, version)
            return self._of_type(schema)
        except (InvalidSchema, TooMuchWork, RecursionError):
            self._unparsed += 1
            return f"?{self._tokens.of(version.text)}"

    def _of_type(self, schema: ParsedSchema) -> str:
        if isinstance(schema, AvroSchema):
            return anonymous_avro(schema, self._tokens)
        if isinstance(schema, ProtobufSchema):
            return self._protobuf.text(schema)
        return self._json.text(schema.source)

    def _reference(self, reference: Reference, schema_type: str) -> Reference:
        name = self._reference_names.get(schema_type, self._tokens.dotted)(reference.name)
        return Reference(name, self._subject(reference.subject), reference.version)

    def _context(self, context: str) -> str:
        if context in (DEFAULT_CONTEXT, GLOBAL_CONTEXT):
            return context
        return "." + self._tokens.of(context.removeprefix("."))

    def _subject(self, subject: str) -> str:
        """A subject part by part: that of a record keeps the token of its record's name, and `-value` stays."""
        context, name = parse_subject(subject)
        end = next((end for end in _ENDS if name.endswith(end)), "")
        anonymous = self._tokens.separated(name.removesuffix(end)) + end
        return anonymous if not subject.startswith(":") else f":{self._context(context)}:{anonymous}"

    def _settings_of(self, subject: str | None) -> str | None:
        return None if subject is None else self._subject(subject)

    def _config(self, config: Config) -> Config:
        contracts = self._contracts
        return replace(
            config,
            alias=None if config.alias is None else self._subject(config.alias),
            alias_for_deks=None if config.alias_for_deks is None else self._subject(config.alias_for_deks),
            compatibility_group=self._tokens.optional(config.compatibility_group),
            default_metadata=contracts.metadata(config.default_metadata),
            override_metadata=contracts.metadata(config.override_metadata),
            default_rule_set=contracts.rule_set(config.default_rule_set),
            override_rule_set=contracts.rule_set(config.override_rule_set),
        )
