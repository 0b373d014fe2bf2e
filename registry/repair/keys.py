"""Faults of keys: several byte forms, tombstones that hit nothing, keys of other products, unreadable records."""

from __future__ import annotations

from collections.abc import Iterator

import orjson

from registry.cluster.lead.takeover import committed_value
from registry.log.port import Record
from registry.repair.facts import Form, LogFacts
from registry.repair.finding import Finding
from registry.state import records
from registry.state.model import context_of
from registry.state.records import Key
from registry.state.view import View

#: The types of keys whose records a tombstone removes. Of the others, a second form does no harm.
_REMOVABLE = frozenset({records.SCHEMA, records.CONFIG, records.MODE, records.CONTEXT, records.RULE})
#: The fields that Redpanda adds to all keys.
_FOREIGN_FIELDS = frozenset({"seq", "node"})


def find_key_forms(facts: LogFacts, _view: View) -> Iterator[Finding]:
    """Find keys of which compaction keeps several values, or a value before a tombstone of another form."""
    for key, forms in _ambiguous(facts):
        valued = [form for form in forms if form.has_value]
        last = forms[-1]
        if len(valued) > 1:
            fault = f"compaction keeps {len(valued)} records of it, and a tombstone removes one"
        elif valued and not last.has_value and last.values:
            fault = "the last tombstone removes another form than the one that compaction keeps: it comes back"
        else:
            continue
        involved = valued if last.has_value else [*valued, last]
        sentence = f"{named(key)} is in the log under {len(forms)} byte forms of its key; {fault}"
        yield _about_key("KEY_FORMS", key, involved, sentence)


def find_orphan_tombstones(facts: LogFacts, _view: View) -> Iterator[Finding]:
    """Find tombstones whose bytes no value has, behind the value that they should have removed."""
    for key, forms in _ambiguous(facts):
        valued = [form for form in forms if form.has_value]
        last = forms[-1]
        if valued and not last.has_value and not last.values:
            yield _about_key(
                "ORPHAN_TOMBSTONE",
                key,
                [*valued, last],
                f"the tombstone of {named(key)} has other bytes than the record that it should remove, which comes "
                "back when compaction drops the tombstone",
            )


def _ambiguous(facts: LogFacts) -> Iterator[tuple[Key, list[Form]]]:
    """The removable keys with several byte forms, and these in the order of their last records."""
    for key, forms in facts.forms.items():
        if key.keytype in _REMOVABLE and len(forms) > 1:
            yield key, sorted(forms.values(), key=lambda form: form.offset)


def find_foreign_keys(facts: LogFacts, _view: View) -> Iterator[Finding]:
    """Find keys with fields of Redpanda, which gives each record a key of its own."""
    for key, forms in facts.forms.items():
        foreign = [form for form in forms.values() if form.has_value and _is_foreign(form.raw)]
        if foreign:
            yield _about_key(
                "FOREIGN_KEYS", key, foreign, f"the key of {named(key)} has the fields seq and node of Redpanda"
            )


def find_unreadable(facts: LogFacts, _view: View) -> Iterator[Finding]:
    """Find records that no reader of this release takes."""
    for raw, fault in facts.faults.items():
        if fault.key is not None:
            yield _about_key(
                "UNREADABLE", fault.key, [Form(raw or b"", fault.offset)], f"a record cannot be read: {fault.text}"
            )
        else:
            yield Finding(
                code="UNREADABLE",
                sentence=f"a record cannot be read: {fault.text}",
                offsets=(fault.offset,),
                keys=(raw,),
            )


def settle_key(facts: LogFacts, view: View, finding: Finding, now: int) -> list[Record]:
    """Remove all forms of a key but the one that servers write, and write that one's value again if the key lives.

    Other servers write tombstones with the bytes of `encode_key`, so that form is the one that stays.
    """
    assert finding.key is not None
    key = finding.key
    if is_contested(view, key):
        return []
    canonical = records.encode_key(key)
    written = current_record(view, key, canonical, now)
    removed = [
        form
        for form in facts.forms[key].values()
        if form.has_value and (form.raw != canonical or written.value is None)
    ]
    return [
        *_marks(view, key, removed, now),
        *(Record(form.raw, None, now) for form in removed),
        *([] if written.value is None else [written]),
    ]


def _marks(view: View, key: Key, removed: list[Form], now: int) -> list[Record]:
    """The mark of the highest id, if a removed record has that id: it must not be given again."""
    if key.keytype != records.SCHEMA or key.subject is None:
        return []
    context = context_of(key.subject)
    highest = view.highest_id(context)
    if all(form.schema_id != highest for form in removed):
        return []
    mark = view.key_bytes(Key(records.ID_MARK, context))
    return [Record(mark, records.encode_id_mark(context, highest), now)]


def settle_record(_facts: LogFacts, view: View, finding: Finding, now: int) -> list[Record]:
    """Put an earlier value in the place of an unreadable one if the key has one, else a tombstone.

    A record without a key cannot be removed.
    """
    (raw,) = finding.keys
    if raw is None or (finding.key is not None and is_contested(view, finding.key)):
        return []
    return [Record(raw, None, now) if finding.key is None else current_record(view, finding.key, raw, now)]


def current_record(view: View, key: Key, raw: bytes, now: int) -> Record:
    """The record with the current value of a key under some bytes, or a tombstone; a version keeps its time."""
    if key.keytype == records.SCHEMA and key.subject is not None and key.version is not None:
        version = view.version(key.subject, key.version)
        if version is None:
            return Record(raw, None, now)
        # Not as decoded: the view has to learn the bytes of the key, which may not be those that it would write.
        return Record(raw, records.encode_version(version), version.timestamp)
    return Record(raw, committed_value(view, key), now)


def is_contested(view: View, key: Key) -> bool:
    """Tell whether a version claims an id of two contents: its oldest record decides, so none may be written again."""
    if key.keytype != records.SCHEMA or key.subject is None or key.version is None:
        return False
    version = view.version(key.subject, key.version)
    return version is not None and view.is_contested(context_of(version.subject), version.schema_id)


def named(key: Key) -> str:
    """A key in words."""
    if key.keytype == records.SCHEMA:
        return f"version {key.version} of {key.subject}"
    if key.rule is not None:
        return "an access rule"
    noun = key.keytype.lower()
    return f"the global {noun}" if key.subject is None else f"the {noun} of {key.subject}"


def _about_key(code: str, key: Key, forms: list[Form], sentence: str) -> Finding:
    subject = key.subject or ""
    return Finding(
        code=code,
        sentence=sentence,
        offsets=tuple(form.offset for form in forms),
        keys=tuple(form.raw for form in forms),
        context=subject if key.keytype in (records.CONTEXT, records.ID_MARK) else context_of(subject),
        subject=None if key.keytype in (records.CONTEXT, records.ID_MARK) else key.subject,
        version=key.version,
        schema_id=next((form.schema_id for form in reversed(forms) if form.schema_id is not None), None),
        key=key,
    )


def _is_foreign(raw: bytes) -> bool:
    return b'"seq"' in raw and b'"node"' in raw and orjson.loads(raw).keys() >= _FOREIGN_FIELDS
