"""Registration: the decision that turns a schema as it was sent into a version."""

from __future__ import annotations

from contextlib import suppress

from msgspec.structs import replace

from magicbyte.kit.errors import ApiError
from registry import errors
from registry.decide.decision import Decision
from registry.decide.question import Terms
from registry.decide.registration.candidate import candidate_of, candidates_to_register, unparsed_of
from registry.decide.registration.check_rules import rule_warnings
from registry.decide.registration.complete import completed, completed_import, with_tags
from registry.decide.registration.judge import require_compatible
from registry.decide.registration.new_version import new_version
from registry.decide.registration.stages import Candidate, Completed, Eligible, Sent
from registry.decide.registration.stored_match import stored_match
from registry.state.model import MAX_VERSION, Mode, Version
from registry.state.resolve import effective_config, effective_mode, qualified_context
from registry.state.view import View


def registered(view: View, sent: Sent, terms: Terms) -> Version | None:
    """The live version that `decide_register` would return without a write; it holds in any mode and on any node.

    The text is compared as it was sent. It is parsed only if the mode refuses registrations, because no later step
    would parse it then.

    Raises:
        Unanswered: The schema must be parsed elsewhere first.
    """
    config = effective_config(view, sent.subject, terms.default_level)
    if sent.expected_latest is not None or sent.edits_tags or config.edits_contents:
        return None
    version, unparsed = None, unparsed_of(view, sent, config)
    if unparsed is not None:
        version = stored_match(view, unparsed, Eligible(sent.version, sent.schema_id), terms)
    if version is None and not effective_mode(view, sent.subject).takes_registrations:
        with suppress(ApiError):
            candidate = candidate_of(view, Completed.as_sent(sent, config), terms, strict=False)
            version = stored_match(view, candidate, Eligible(sent.version, sent.schema_id), terms)
    return version


def decide_register(view: View, now: int, *, sent: Sent, terms: Terms, anew: bool = False) -> Decision[Version]:
    """Register a schema; returns the stored version, or a new version with the schema's id or a new id.

    Args:
        view: The state to decide on.
        now: The time in ms since the epoch.
        sent: The schema.
        terms: The server's terms.
        anew: Do not return a stored version that equals the schema as sent, before it inherits anything.

    Raises:
        ApiError: Any row of the error table that registering can raise.
        Unanswered: The schema must be parsed or judged elsewhere first.
    """
    mode = effective_mode(view, sent.subject)
    _require_permitted(view, sent, mode)
    config = effective_config(view, sent.subject, terms.default_level)
    edits_tags = sent.edits_tags
    if edits_tags:
        sent = with_tags(view, sent, terms)
    complete = completed_import(sent, config) if mode.imports else completed(view, sent, config)
    # An import without a number, and a version made anew, may turn out to be any version.
    is_any = sent.version <= 0 and (mode.imports or anew)
    eligible = Eligible(0 if is_any else sent.version, sent.schema_id)
    changes = anew or sent.expected_latest is not None or edits_tags or config.edits_contents
    for candidate in candidates_to_register(
        view, complete, terms, is_import=mode.imports, may_be_stored_as_sent=not changes
    ):
        version = stored_match(view, candidate, eligible, terms)
        if version is not None:
            return Decision(version)
    assert isinstance(candidate, Candidate), "the last candidate is the one to store"
    if not (mode.imports or sent.force):
        require_compatible(view, complete, candidate, terms)
    warnings = () if mode.imports else rule_warnings(view, candidate, terms)
    decision = new_version(view, now, sent, candidate.content, terms, is_import=mode.imports)
    return replace(decision, warnings=warnings) if warnings else decision


def _require_permitted(view: View, sent: Sent, mode: Mode) -> None:
    if mode.read_only:
        refusal = errors.READ_ONLY
    elif sent.schema_id >= 0 and not mode.imports:
        refusal = errors.NOT_IN_IMPORT_MODE
    elif sent.schema_id < 0 and mode.imports:
        refusal = errors.NOT_IN_READ_WRITE_MODE
    elif sent.schema_id == 0:
        raise errors.INVALID_PARAMETER(detail=f"id is out of range: 0; ids are from 1 to {MAX_VERSION}")
    elif sent.expected_latest is None:
        return
    else:
        latest = view.latest(sent.subject)
        number = latest.number if latest else 0
        if number != sent.expected_latest:
            raise errors.PRECONDITION_FAILED(subject=sent.subject, latest=number, expected=sent.expected_latest)
        return
    raise refusal(subject=sent.subject, context=qualified_context(sent.subject))
