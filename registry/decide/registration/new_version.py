"""Writing a new version: its number, its id, and the records for the log."""

from __future__ import annotations

from registry import errors
from registry.decide.decision import Decision, tombstone
from registry.decide.question import Terms
from registry.decide.registration.stages import Sent
from registry.log.port import Record
from registry.state import records
from registry.state.model import (
    DEFAULT_CONTEXT,
    GLOBAL_CONTEXT,
    LATEST,
    MAX_VERSION,
    Content,
    Version,
    context_of,
    kept_form,
)
from registry.state.records import Key
from registry.state.resolve import qualified_context, refers_to
from registry.state.view import View


def new_version(
    view: View, now: int, sent: Sent, content: Content, terms: Terms, *, is_import: bool
) -> Decision[Version]:
    """Write a new version.

    Args:
        view: The state to decide on.
        now: The time in ms since the epoch.
        sent: The request, which may require a number or an id.
        content: The content to store.
        terms: The server's terms.
        is_import: Whether the version may have any number, and may be written over a live one.

    Raises:
        ApiError: The number or the id is not available, or the references lead back to this version.
    """
    subject, context = sent.subject, context_of(sent.subject)
    next_number = view.next_number(subject)
    if not is_import and sent.version not in (0, LATEST, next_number):
        raise errors.VERSION_OUT_OF_TURN()
    number = sent.version if sent.version > 0 else next_number
    if number > MAX_VERSION:
        raise errors.VERSIONS_EXHAUSTED(subject=subject, last=MAX_VERSION)
    schema_id = _choose_id(view, sent, content)
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


def _choose_id(view: View, sent: Sent, content: Content) -> int:
    """The id for a content: the id in an import, the content's existing id, or the next id."""
    context = context_of(sent.subject)
    if sent.schema_id >= 0:
        holder = view.content_with_id(context, sent.schema_id)
        if holder is not None and holder != content:
            raise errors.ID_OVERWRITE(id=sent.schema_id, context=qualified_context(sent.subject))
        return sent.schema_id
    existing_id = view.id_of(context, content)
    if existing_id is not None:
        return existing_id
    # A context that has given no id begins above the mark of the global context: see `magicbyte dr promote`.
    highest = view.highest_id(context) or view.highest_id(GLOBAL_CONTEXT)
    if highest == MAX_VERSION:
        # Smaller ids may be free, but data may still contain a deleted id.
        raise errors.IDS_EXHAUSTED(context=context, last=MAX_VERSION)
    return highest + 1
