"""Registration: the decision that turns a request into a version."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Sequence

from msgspec.structs import replace

from compat.engine import selected
from compat.level import LEVELS, Policy
from magicbyte.kit.errors import ApiError
from registry import errors
from registry.decide.decision import Decision, Terms, require_valid_rules, tombstone
from registry.decide.match import find_among, find_match
from registry.decide.prepare import (
    Candidate,
    Registration,
    canonicalize,
    inherit,
    require_valid_fields,
    validates_fields,
    write_tags,
)
from registry.decide.question import Question
from registry.decide.registered import registered_already
from registry.log.port import Record
from registry.offload.jobs import Compared, Judge
from registry.state import records
from registry.state.contract import RESERVED_PROPERTY, VERSION_PROPERTY, Metadata
from registry.state.model import (
    DEFAULT_CONTEXT,
    LATEST,
    LOGICAL_POLICY,
    MAX_VERSION,
    Config,
    Content,
    Mode,
    Version,
    context_of,
    kept_form,
)
from registry.state.records import Key
from registry.state.resolve import effective_config, effective_mode, qualified_context, refers_to
from registry.state.view import View

log = logging.getLogger("magicbyte.registry.decide")


def decide_register(
    view: View, now: int, *, request: Registration, terms: Terms, anew: bool = False
) -> Decision[Version]:
    """Register a schema; returns the stored version, or a new version with the schema's id or a new id.

    Args:
        view: The state to decide on.
        now: The time in ms since the epoch.
        request: The schema.
        terms: The server's terms.
        anew: Do not return a stored version that equals the request as sent, before it inherits anything.

    Raises:
        ApiError: Any row of the error table that registering can raise.
        Unanswered: The schema must be parsed or judged elsewhere first.
    """
    mode = effective_mode(view, request.subject)
    _require_mode(mode, request)
    if request.schema_id == 0:
        raise errors.INVALID_PARAMETER(detail=f"id is out of range: 0; ids are from 1 to {MAX_VERSION}")
    _require_expected_latest(view, request)
    config = effective_config(view, request.subject, terms.default_level)
    next_number = view.next_number(request.subject)
    request = write_tags(view, request, terms)
    if mode.imports:
        # An import is stored without normalisation.
        complete, config = replace(request, normalize=False), dataclasses.replace(config, normalize=False)
    else:
        complete = inherit(view, request, config, next_number)
        # The request as sent may equal a stored version that the completed request no longer equals.
        if complete is not request and not anew:
            registered = registered_already(view, request, terms, parse=True)
            if registered is not None:
                return Decision(registered)
    require_valid_rules(complete.content.rule_set)
    try:
        candidate = canonicalize(view, complete, config, terms, strict=not mode.imports)
    except ApiError:
        registered = None if anew else registered_already(view, request, terms, parse=True)
        if registered is None:
            raise
        return Decision(registered)
    if not mode.imports:
        require_valid_fields(candidate, complete)
    existing = _same_version(view, complete, candidate, terms, anew=anew)
    if existing is not None:
        return Decision(existing)
    if not (mode.imports or request.force):
        _require_compatible(view, request, candidate, config, terms)
    return _write(view, complete, candidate.content, next_number, now, terms, imports=mode.imports)


def _require_mode(mode: Mode, request: Registration) -> None:
    if mode.read_only:
        refusal = errors.READ_ONLY
    elif request.schema_id >= 0 and not mode.imports:
        refusal = errors.NOT_IN_IMPORT_MODE
    elif request.schema_id < 0 and mode.imports:
        refusal = errors.NOT_IN_READ_WRITE_MODE
    else:
        return
    raise refusal(subject=request.subject, context=qualified_context(request.subject))


def _require_expected_latest(view: View, request: Registration) -> None:
    if request.expected_latest is None:
        return
    latest = view.latest(request.subject)
    number = latest.number if latest else 0
    if number != request.expected_latest:
        raise errors.PRECONDITION_FAILED(subject=request.subject, latest=number, expected=request.expected_latest)


def _same_version(
    view: View, request: Registration, candidate: Candidate, terms: Terms, *, anew: bool
) -> Version | None:
    """The live version that the request would register again."""
    if not view.versions(request.subject):
        return None
    if request.version == 0 and request.schema_id < 0:
        return find_match(view, request.subject, candidate, terms)
    if request.version == LATEST and request.schema_id < 0 and not anew:
        # As in the reference: the latest version, whatever number the candidate would get.
        latest = view.latest(request.subject)
        return None if latest is None else find_among(view, [latest], _without_number(candidate), terms)
    if request.version > 0:
        stored = view.version(request.subject, request.version)
        versions = [stored] if stored else []
    else:
        versions = list(view.live_versions(request.subject))
    if request.schema_id >= 0:
        versions = [version for version in versions if version.schema_id == request.schema_id]
    return find_among(view, [version for version in versions if not version.deleted], candidate, terms)


def _without_number(candidate: Candidate) -> Candidate:
    """The candidate without the version property that it has inherited."""
    metadata = candidate.content.metadata
    if metadata is None or VERSION_PROPERTY not in metadata.properties:
        return candidate
    content = replace(candidate.content, metadata=metadata.without_property(VERSION_PROPERTY))
    return replace(candidate, content=content)


def _require_compatible(view: View, request: Registration, candidate: Candidate, config: Config, terms: Terms) -> None:
    verdict = judge(view, request.subject, candidate, config, terms, explain=request.explain)
    if verdict.compatible:
        return
    refusal = terms.incompatible(subject=request.subject, details=f"[{', '.join((*verdict.messages, *verdict.notes))}]")
    if request.explain:
        refusal = refusal.with_extra(explanations=list(verdict.explanations))
    raise refusal


def judge(
    view: View,
    subject: str,
    candidate: Candidate,
    config: Config,
    terms: Terms,
    versions: Sequence[Version] | None = None,
    *,
    explain: bool = False,
    every: bool = False,
) -> Compared:
    """Judge whether a candidate is compatible with the versions of a subject, at the config's level.

    Args:
        view: The view that resolves references.
        subject: The subject in wire form.
        candidate: The new schema.
        config: The config in effect for the subject.
        terms: The server's terms.
        versions: The versions to compare with, by number; None for all live ones.
        explain: Whether to explain incompatibilities.
        every: Whether to compare with all versions in both directions, in addition to the level's verdict.

    Raises:
        ApiError: The comparison takes too much work.
        Unanswered: The candidate must be judged elsewhere first.
    """
    earlier = view.live_versions(subject) if versions is None else versions
    validate_fields = validates_fields(config, terms)
    if not (earlier or validate_fields):
        return Compared()
    group = config.compatibility_group
    if group is not None:
        value = _property(candidate.content.metadata, group)
        earlier = [version for version in earlier if _property(version.content.metadata, group) == value]
    level = LEVELS.get(config.compatibility_level or "", LEVELS[terms.default_level])
    policy = Policy.LENIENT if config.compatibility_policy == Policy.LENIENT else Policy.STRICT
    reserved: tuple[str | None, str | None] = (None, None)
    if validate_fields:
        before = earlier[-1].content.metadata if earlier else None
        reserved = _property(candidate.content.metadata, RESERVED_PROPERTY), _property(before, RESERVED_PROPERTY)
    compared = tuple(earlier) if every else tuple(selected(earlier, level))[::-1]
    if not compared and reserved == (None, None):
        return Compared()
    task = Judge(level.name, policy, validate_fields, reserved, explain, every)
    question = Question(candidate.source, task, earlier=compared, moved=view.references_moved)
    verdict = terms.ask(view, question, Compared)
    if config.compatibility_policy == LOGICAL_POLICY and compared:
        log.warning("the compatibilityPolicy of %s is LOGICAL, which is not supported: judged as STRICT", subject)
        return replace(verdict, notes=(_JUDGED_AS_STRICT,))
    return verdict


_JUDGED_AS_STRICT = "compatibilityPolicy LOGICAL is not supported: judged as STRICT"


def _property(metadata: Metadata | None, name: str) -> str | None:
    return metadata.properties.get(name) if metadata else None


def _write(
    view: View,
    request: Registration,
    content: Content,
    next_number: int,
    now: int,
    terms: Terms,
    *,
    imports: bool,
) -> Decision[Version]:
    """Write a new version; an import may overwrite a live one."""
    subject, context = request.subject, context_of(request.subject)
    if not imports and request.version not in (0, LATEST, next_number):
        raise errors.VERSION_OUT_OF_TURN()
    number = request.version if request.version > 0 else next_number
    if number > MAX_VERSION:
        raise errors.VERSIONS_EXHAUSTED(subject=subject, last=MAX_VERSION)
    schema_id = _choose_id(view, request, content)
    occupied = view.version(subject, number)
    if occupied is not None and refers_to(view, context, content, subject, number):
        details = f'the references lead back to subject "{subject}" and version {number}'
        raise errors.INVALID_SCHEMA(type=content.schema_type, details=details)
    if occupied is not None and not occupied.deleted:
        if occupied.content == content and occupied.schema_id != schema_id:
            raise errors.ID_MISMATCH(id=schema_id, expected=occupied.schema_id)
        if occupied.content != content and not terms.imports_overwrite:
            raise errors.VERSION_OVERWRITE(subject=subject, version=number)
    version = Version(subject, number, schema_id, kept_form(content), deleted=False, timestamp=now)
    new_records: list[Record] = []
    if context != DEFAULT_CONTEXT and context not in view.contexts():
        new_records.append(Record(view.key_bytes(Key(records.CONTEXT, context)), records.encode_context(context), now))
    new_records.append(records.version_record(view.key_bytes(Key(records.SCHEMA, subject, number)), version))
    superseded = [
        stored
        for stored in view.versions(subject)
        if stored.deleted
        and stored.schema_id == schema_id
        and stored.number < number
        and not view.referrers(subject, stored.number)
    ]
    for stored in superseded:
        new_records += tombstone(view, Key(records.SCHEMA, subject, stored.number), now)
    highest = view.highest_id(context)
    if occupied is not None and occupied.schema_id == highest != schema_id:
        # The overwritten record is the last one that has this id.
        mark = view.key_bytes(Key(records.ID_MARK, context))
        new_records.insert(0, Record(mark, records.encode_id_mark(context, highest), now))
    return Decision(version, tuple(new_records))


def _choose_id(view: View, request: Registration, content: Content) -> int:
    """The id for a content: the id in an import, the content's existing id, or the next id."""
    context = context_of(request.subject)
    if request.schema_id >= 0:
        holder = view.content_with_id(context, request.schema_id)
        if holder is not None and holder != content:
            raise errors.ID_OVERWRITE(id=request.schema_id, context=qualified_context(request.subject))
        return request.schema_id
    existing_id = view.id_of(context, content)
    if existing_id is not None:
        return existing_id
    highest = view.highest_id(context)
    if highest == MAX_VERSION:
        # Smaller ids may be free, but data may still contain a deleted id.
        raise errors.IDS_EXHAUSTED(context=context, last=MAX_VERSION)
    return highest + 1
