"""Registration: from a request to the version that answers it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from compat.engine import Previous, Verdict, check, reserved_field_messages
from compat.level import LEVELS, Policy
from compat.schema import InvalidSchema, ParsedSchema
from registry import errors, records
from registry.contract import RESERVED_PROPERTY, VERSION_PROPERTY, InvalidRuleSet, Metadata, RuleSet
from registry.decide.decision import Decision, Terms, require_writable
from registry.log.port import Record
from registry.lookup import find_registered, loosely_same
from registry.model import DEFAULT_CONTEXT, LATEST, Config, Content, Version, context_of
from registry.parsing import invalid_schema
from registry.records import Key
from registry.resolve import dependencies, effective_config, effective_mode, pin_references, qualified_context
from registry.view import View


@dataclass(frozen=True, slots=True)
class Registration:
    """A request to register a schema, or to look one up.

    Attributes:
        subject: In wire form.
        content: As the client sent it: references not pinned, text not canonical.
        version: The number it must get; 0 leaves it to the server.
        schema_id: The id it must get; -1 leaves it to the server.
        normalize: Store the normalised text, whatever the config says.
        force: Skip the compatibility check.
        expected_latest: Register only if this is the latest live version (0: none); None does not ask.
    """

    subject: str
    content: Content
    version: int = 0
    schema_id: int = -1
    normalize: bool = False
    force: bool = False
    expected_latest: int | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A content as it would be stored, and the parse that it came from."""

    content: Content
    parsed: ParsedSchema


def decide_register(view: View, now: int, *, request: Registration, terms: Terms) -> Decision[Version]:
    """Register a schema: the same version again, a known id under a new version, or a new id.

    Raises:
        ApiError: Any row of the error table that registering can raise; compatibility is decided here, so that a
            retry decides it again.
    """
    mode = effective_mode(view, request.subject)
    _require_mode(view, request)
    _require_expected_latest(view, request)
    config = effective_config(view, request.subject, terms.default_level)
    next_number = 1 + max((version.number for version in view.versions(request.subject)), default=0)
    wanted = request if mode.imports else inherit(view, request, config, next_number)
    _validate_rules(wanted.content.rule_set)
    candidate = canonicalize(view, wanted, config, terms, strict=not mode.imports)
    existing = _same_version(view, wanted, candidate.content)
    if existing is not None:
        return Decision(existing)
    if not (mode.imports or request.force):
        verdict = judge(view, request.subject, candidate, config, terms)
        if not verdict.compatible:
            raise terms.incompatible(subject=request.subject, details=f"[{', '.join(verdict.messages)}]")
    return _write(view, wanted, candidate.content, next_number, now, imports=mode.imports)


def _require_mode(view: View, request: Registration) -> None:
    mode = effective_mode(view, request.subject)
    where = {"subject": request.subject, "context": qualified_context(request.subject)}
    require_writable(view, request.subject)
    if request.schema_id >= 0 and not mode.imports:
        raise errors.NOT_IN_IMPORT_MODE(**where)
    if request.schema_id < 0 and mode.imports:
        raise errors.NOT_IN_READ_WRITE_MODE(**where)


def _require_expected_latest(view: View, request: Registration) -> None:
    if request.expected_latest is None:
        return
    latest = view.latest(request.subject)
    number = latest.number if latest else 0
    if number != request.expected_latest:
        raise errors.PRECONDITION_FAILED(subject=request.subject, latest=number, expected=request.expected_latest)


def inherit(view: View, request: Registration, config: Config, next_number: int) -> Registration:
    """The request with what it leaves out taken from the latest version and the config's defaults and overrides."""
    content = request.content
    latest = view.latest(request.subject)
    if not content.text.strip():
        if latest is None:
            raise errors.EMPTY_SCHEMA()
        previous = latest.content
        content = replace(content, text=previous.text, schema_type=previous.schema_type, references=previous.references)
    metadata = content.metadata or (latest.content.metadata if latest else None)
    metadata = _merge_metadata(config.default_metadata, metadata, config.override_metadata)
    rule_set = content.rule_set or (latest.content.rule_set if latest else None)
    rule_set = _merge_rules(config.default_rule_set, rule_set, config.override_rule_set)
    if request.version != 0 or (metadata and VERSION_PROPERTY in metadata.properties):
        number = request.version if request.version > 0 else next_number
        metadata = (metadata or Metadata()).with_property(VERSION_PROPERTY, str(number))
    return replace(request, content=replace(content, metadata=metadata, rule_set=rule_set))


def _merge_metadata(*layers: Metadata | None) -> Metadata | None:
    merged: Metadata | None = None
    for layer in layers:
        merged = merged.merged(layer) if merged else layer
    return merged


def _merge_rules(*layers: RuleSet | None) -> RuleSet | None:
    merged: RuleSet | None = None
    for layer in layers:
        merged = merged.merged(layer) if merged else layer
    return merged


def _validate_rules(rule_set: RuleSet | None) -> None:
    try:
        if rule_set is not None:
            rule_set.validate()
    except InvalidRuleSet as error:
        raise errors.INVALID_RULE_SET(detail=error) from None


def canonicalize(view: View, request: Registration, config: Config, terms: Terms, *, strict: bool) -> Candidate:
    """Pin the references, parse, and put the text into the form that is stored.

    Raises:
        ApiError: 42201.
    """
    content = request.content
    context = context_of(request.subject)
    validate = terms.validate_new_schemas if config.validate_new_schemas is None else config.validate_new_schemas
    strict = strict and validate
    try:
        pinned = pin_references(view, context, content.references, content.schema_type, allow_deleted=not strict)
        content = replace(content, references=pinned)
        parsed = terms.parse(content.schema, dependencies(view, context, content), strict=strict)
    except InvalidSchema as error:
        raise invalid_schema(error) from None
    text = parsed.canonical
    if request.normalize or config.normalize:
        text = parsed.normalized()
        pinned = tuple(sorted(set(pinned), key=lambda each: (each.name, each.subject, each.version)))
    return Candidate(replace(content, text=text, references=pinned), parsed)


def _same_version(view: View, request: Registration, content: Content) -> Version | None:
    """The live version that already answers the request."""
    if request.version == 0 and request.schema_id < 0:
        return find_registered(view, request.subject, content)
    if request.version > 0:
        stored = view.version(request.subject, request.version)
        candidates = [stored] if stored else []
    else:
        candidates = list(view.live_versions(request.subject))
    for version in candidates:
        same_id = request.schema_id < 0 or version.schema_id == request.schema_id
        if not version.deleted and same_id and loosely_same(version, content):
            return version
    return None


def judge(
    view: View,
    subject: str,
    candidate: Candidate,
    config: Config,
    terms: Terms,
    versions: Sequence[Version] | None = None,
) -> Verdict:
    """Whether a candidate may follow the versions of a subject, by the level that holds for it.

    Args:
        view: Where references lead.
        subject: In wire form.
        candidate: The new schema.
        config: What holds for the subject.
        terms: The server's.
        versions: The versions to compare with, by number; all live ones where none are given.
    """
    earlier = view.live_versions(subject) if versions is None else versions
    group = config.compatibility_group
    if group is not None:
        mine = _property(candidate.content.metadata, group)
        earlier = [each for each in earlier if _property(each.content.metadata, group) == mine]
    previous = [Previous(each.number, partial(_load, view, each, terms)) for each in earlier]
    level = LEVELS[config.compatibility_level or terms.default_level]
    policy = Policy.LENIENT if config.compatibility_policy == Policy.LENIENT else Policy.STRICT
    validate_fields = terms.validate_fields if config.validate_fields is None else config.validate_fields
    reserved: list[str] = []
    if validate_fields:
        before = earlier[-1].content.metadata if earlier else None
        mine = _property(candidate.content.metadata, RESERVED_PROPERTY)
        reserved = reserved_field_messages(candidate.parsed, mine, _property(before, RESERVED_PROPERTY))
    return check(
        candidate.parsed,
        previous,
        level,
        policy,
        validate_fields=validate_fields,
        reserved_messages=reserved,
    )


def _load(view: View, version: Version, terms: Terms) -> ParsedSchema:
    context = context_of(version.subject)
    return terms.parse(version.content.schema, dependencies(view, context, version.content), strict=False)


def _property(metadata: Metadata | None, name: str) -> str | None:
    return metadata.properties.get(name) if metadata else None


def _write(
    view: View,
    request: Registration,
    content: Content,
    next_number: int,
    now: int,
    *,
    imports: bool,
) -> Decision[Version]:
    """The records of a new version."""
    subject, context = request.subject, context_of(request.subject)
    if not imports and request.version not in (0, LATEST, next_number):
        raise errors.VERSION_OUT_OF_TURN()
    number = request.version if request.version > 0 else next_number
    schema_id = _choose_id(view, request, content)
    occupied = view.version(subject, number)
    if occupied is not None and not occupied.deleted and occupied.content != content:
        raise errors.ID_OVERWRITE(id=occupied.schema_id, context=qualified_context(subject))
    version = Version(subject, number, schema_id, content, deleted=False, timestamp=now)
    value = records.encode_version(version)
    found: list[Record] = []
    if context != DEFAULT_CONTEXT and context not in view.contexts():
        found.append(Record(view.key_bytes(Key(records.CONTEXT, context)), records.encode_context(context), now))
    found.append(Record(view.key_bytes(Key(records.SCHEMA, subject, number)), value, now))
    superseded = [
        each
        for each in view.versions(subject)
        if each.deleted
        and each.schema_id == schema_id
        and each.number < number
        and not view.referrers(subject, each.number)
    ]
    found.extend(Record(view.key_bytes(Key(records.SCHEMA, subject, each.number)), None, now) for each in superseded)
    return Decision(version, tuple(found))


def _choose_id(view: View, request: Registration, content: Content) -> int:
    """The id of a content: the one it has, the one that an import asks for, or the next."""
    context = context_of(request.subject)
    if request.schema_id >= 0:
        holder = view.content_with_id(context, request.schema_id)
        if holder is not None and holder != content:
            raise errors.ID_OVERWRITE(id=request.schema_id, context=qualified_context(request.subject))
        return request.schema_id
    known = view.id_of(context, content)
    return view.highest_id(context) + 1 if known is None else known
