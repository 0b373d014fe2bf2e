"""The version that answers a request as it is, so that nothing need be written."""

from __future__ import annotations

from contextlib import suppress

from magicbyte.kit.errors import ApiError
from registry.decide.decision import Terms
from registry.decide.match import find_match
from registry.decide.prepare import Registration, canonicalize, inherit
from registry.state.lookup import find_registered
from registry.state.model import LATEST, Config, Version
from registry.state.resolve import effective_config, effective_mode
from registry.state.view import View


def look_up(view: View, wanted: Registration, terms: Terms, *, include_deleted: bool) -> Version | None:
    """Look a schema up as it is sent, then parsed, then with what registering would add to it.

    Raises:
        ApiError: 42201.
    """
    subject = wanted.subject
    if wanted.content.is_blank or not view.versions(subject):
        return None
    config = effective_config(view, subject, terms.default_level)
    # A text that is stored as it is sent needs no parsing.
    found = _look_up_as_sent(view, wanted, config, include_deleted=include_deleted)
    if found is not None:
        return found
    full = inherit(view, wanted, config, view.next_number(subject))
    for attempt in (wanted,) if full is wanted else (wanted, full):
        candidate = canonicalize(view, attempt, config, terms, strict=False)
        found = find_match(view, subject, candidate, terms, include_deleted=include_deleted)
        if found is not None:
            return found
    return None


def registered_already(view: View, wanted: Registration, terms: Terms, *, parse: bool = False) -> Version | None:
    """The live version that has what a request to register asks for, which is the answer in any mode, on any node.

    Args:
        view: The state to look in.
        wanted: The request.
        terms: The server's.
        parse: Whether a text that is not stored as it was sent is parsed, if registering is allowed.
    """
    subject = wanted.subject
    if wanted.expected_latest is not None or wanted.edits_tags or not view.versions(subject):
        return None
    config = effective_config(view, subject, terms.default_level)
    if config.edits_contents:
        return None
    found = _look_up_as_sent(view, wanted, config, include_deleted=False)
    # Where registering would refuse, nothing is lost by parsing.
    takes_registrations = effective_mode(view, subject).takes_registrations
    if found is None and (parse or not takes_registrations):
        with suppress(ApiError):
            candidate = canonicalize(view, wanted, config, terms, strict=takes_registrations)
            found = find_match(view, subject, candidate, terms)
    if found is None or (wanted.schema_id >= 0 and found.schema_id != wanted.schema_id):
        return None
    if wanted.version == LATEST and found is not view.latest(subject):
        return None
    return found if wanted.version in (0, LATEST, found.number) else None


def _look_up_as_sent(view: View, wanted: Registration, config: Config, *, include_deleted: bool) -> Version | None:
    if wanted.normalize or config.normalize or wanted.content.is_blank:
        return None
    return find_registered(view, wanted.subject, wanted.content, include_deleted=include_deleted)
