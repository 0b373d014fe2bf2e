"""Faults of ids and versions: marks that are too low, and live versions before a deletion that does not know them."""

from __future__ import annotations

from collections.abc import Iterator

from registry.log.port import Record
from registry.repair.facts import LogFacts
from registry.repair.finding import Finding
from registry.repair.keys import current_record, is_contested
from registry.state import records
from registry.state.model import context_of
from registry.state.records import Key
from registry.state.view import View


def find_low_marks(facts: LogFacts, view: View) -> Iterator[Finding]:
    """Find contexts that have given a higher id than those that compaction leaves in the log.

    A mark below the ids of the versions that are there does no harm: both count.
    """
    remembered = facts.remembered_ids()
    contexts = sorted({*facts.highest, *view.contexts_with_ids()})
    for context in contexts:
        seen = facts.highest.get(context)
        # A running registry may have seen ids in records that compaction has removed since.
        given = max(seen.schema_id if seen else 0, view.highest_id(context))
        kept = remembered.get(context, 0)
        if given > kept:
            yield Finding(
                code="MARK_LOW",
                sentence=f"context {context} has given the id {given}, but after compaction the log knows of none "
                f"above {kept}: the ids from {kept + 1} on would be given again",
                offsets=(seen.offset,) if seen and seen.schema_id == given else (),
                context=context,
                schema_id=given,
            )


def write_mark(_facts: LogFacts, view: View, finding: Finding, now: int) -> list[Record]:
    """Write the mark of the highest id that was given."""
    assert finding.schema_id is not None
    key = view.key_bytes(Key(records.ID_MARK, finding.context))
    return [Record(key, records.encode_id_mark(finding.context, finding.schema_id), now)]


def find_deleted_live(facts: LogFacts, view: View) -> Iterator[Finding]:
    """Find live versions before a DELETE_SUBJECT that ends below them: the server that wrote it did not know them.

    A server deletes up to the highest version that it knows. A live version behind the deletion, with any number, was
    undeleted or registered anew.
    """
    for subject, deletion in facts.deletions.items():
        for version in view.live_versions(subject):
            key = Key(records.SCHEMA, subject, version.number)
            offset = facts.last_offset(key)
            if version.number > deletion.highest_version and 0 <= offset < deletion.offset:
                yield Finding(
                    code="DELETED_LIVE",
                    sentence=f"version {version.number} of {subject} lives, but stands before a DELETE_SUBJECT of "
                    f"another server, which knew versions only up to {deletion.highest_version}: readers differ in "
                    "whether it is deleted",
                    offsets=(offset, deletion.offset),
                    context=context_of(subject),
                    subject=subject,
                    version=version.number,
                    schema_id=version.schema_id,
                    key=key,
                )


def rewrite_version(_facts: LogFacts, view: View, finding: Finding, now: int) -> list[Record]:
    """Write the version again, behind the deletion; it keeps the time of its registration."""
    assert finding.key is not None
    if is_contested(view, finding.key):
        return []
    return [current_record(view, finding.key, view.key_bytes(finding.key), now)]
