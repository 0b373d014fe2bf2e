"""Looking a schema up: by its text as it was sent, as parsed, and with what a registration would inherit."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from registry.decide.question import Terms
from registry.decide.registration.candidate import candidate_of, unparsed_of
from registry.decide.registration.complete import completed
from registry.decide.registration.stages import Completed, Eligible, Sent, Unparsed
from registry.decide.registration.stored_match import stored_match
from registry.state.lookup import with_other_contexts
from registry.state.model import Version
from registry.state.resolve import effective_config
from registry.state.view import View


def look_up(view: View, sent: Sent, terms: Terms, *, include_deleted: bool) -> Version | None:
    """The version that has a schema; if the subject names no context, the other contexts are searched too.

    Args:
        view: The state.
        sent: The schema; a number or an id that it requires is ignored.
        terms: The server's terms.
        include_deleted: Whether to find soft-deleted versions.

    Raises:
        ApiError: 42201.
        Unanswered: The schema must be parsed elsewhere first.
    """
    if sent.content.is_blank:
        return None
    if sent.version != 0 or sent.schema_id >= 0:
        sent = replace(sent, version=0, schema_id=-1)
    eligible = Eligible(include_deleted=include_deleted)
    for subject in with_other_contexts(view, sent.subject):
        if not view.versions(subject):
            continue
        sent_to_subject = sent if subject == sent.subject else replace(sent, subject=subject)
        for candidate in _candidates(view, sent_to_subject, terms):
            version = stored_match(view, candidate, eligible, terms)
            if version is not None:
                return version
    return None


def _candidates(view: View, sent: Sent, terms: Terms) -> Iterator[Unparsed]:
    config = effective_config(view, sent.subject, terms.default_level)
    unparsed = unparsed_of(view, sent, config)
    if unparsed is not None:
        yield unparsed
    yield candidate_of(view, Completed.as_sent(sent, config), terms, strict=False)
    complete = completed(view, sent, config)
    if complete.content is not sent.content:
        yield candidate_of(view, complete, terms, strict=False)
