"""Finding the stored version that a request describes, so that no write is needed."""

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


def look_up(view: View, request: Registration, terms: Terms, *, include_deleted: bool) -> Version | None:
    """Look up a schema as sent, then as parsed, then with the metadata and rules that a registration would inherit.

    Raises:
        ApiError: 42201.
    """
    subject = request.subject
    if request.content.is_blank or not view.versions(subject):
        return None
    config = effective_config(view, subject, terms.default_level)
    # A text that is stored as it was sent needs no parsing.
    version = _look_up_as_sent(view, request, config, include_deleted=include_deleted)
    if version is not None:
        return version
    complete = inherit(view, request, config, view.next_number(subject))
    for attempt in (request,) if complete is request else (request, complete):
        candidate = canonicalize(view, attempt, config, terms, strict=False)
        version = find_match(view, subject, candidate, terms, include_deleted=include_deleted)
        if version is not None:
            return version
    return None


def registered_already(view: View, request: Registration, terms: Terms, *, parse: bool = False) -> Version | None:
    """The live version that a registration would return without a write; this holds in any mode and on any node.

    Args:
        view: The state to look in.
        request: The request.
        terms: The server's terms.
        parse: Parse the text if it is not stored as it was sent; always done if the mode allows no registrations.
    """
    subject = request.subject
    if request.expected_latest is not None or request.edits_tags or not view.versions(subject):
        return None
    config = effective_config(view, subject, terms.default_level)
    if config.edits_contents:
        return None
    version = _look_up_as_sent(view, request, config, include_deleted=False)
    # If the mode refuses registrations, no later step would parse the text.
    takes_registrations = effective_mode(view, subject).takes_registrations
    if version is None and (parse or not takes_registrations):
        version = _look_up_parsed(view, request, config, terms, strict_first=takes_registrations)
    if version is None or (request.schema_id >= 0 and version.schema_id != request.schema_id):
        return None
    if request.version == LATEST and version is not view.latest(subject):
        return None
    return version if request.version in (0, LATEST, version.number) else None


def _look_up_parsed(
    view: View, request: Registration, config: Config, terms: Terms, *, strict_first: bool
) -> Version | None:
    # The strict parse serves the registration that follows. What it refuses may be stored all the same: by an import,
    # or by a registry that was less strict.
    for strict in (True, False) if strict_first else (False,):
        with suppress(ApiError):
            candidate = canonicalize(view, request, config, terms, strict=strict)
            return find_match(view, request.subject, candidate, terms)
    return None


def _look_up_as_sent(view: View, request: Registration, config: Config, *, include_deleted: bool) -> Version | None:
    if request.normalize or config.normalize or request.content.is_blank:
        return None
    return find_registered(view, request.subject, request.content, include_deleted=include_deleted)
