"""The versions of all subjects, found by number, id, content, digest and referrer."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Sequence
from typing import TypeVar

from msgspec.structs import replace

from registry.state.identity import digest_of, same_identity
from registry.state.model import DEFAULT_CONTEXT, LATEST, Content, Version, context_of, kept_form, subject_in
from registry.state.view.overlay import Table
from registry.state.view.tables import Held, Identity, SubjectVersion, Tables

K = TypeVar("K")


class Versions:
    """The versions of all subjects, soft-deleted ones included: the largest part of a view.

    With tables below, it reads those until its first change, which makes layers over them.

    Other threads may read while one changes: a read is a look-up in a table, or copies the table's keys in one step.
    """

    def __init__(self, base: Tables | None = None) -> None:
        self._below = base
        self.tables = base or Tables()
        #: Grows whenever a version that others refer to is added, removed or replaced.
        self.references_moved = 0
        self._digests: dict[bytes, tuple[Identity, ...]] | None = None
        self._digesting = threading.Lock()

    # Reads

    def subjects(self) -> list[str]:
        """All subjects that have a version, unordered."""
        return [name for name in list(self.tables.subjects) if self.tables.subjects.get(name)]

    def versions(self, subject: str) -> Sequence[Version]:
        """All versions of a subject by number, soft-deleted ones included."""
        return self.tables.subjects.get(subject, [])

    def version(self, subject: str, number: int) -> Version | None:
        """One version, soft-deleted or not."""
        versions = self.versions(subject)
        if not versions or versions[-1].number < number:
            return None
        try:
            candidate = versions[bisect_left(versions, number, key=_number)]
        except IndexError:  # beyond the end, or the list shrank in another thread
            return None
        return candidate if candidate.number == number else None

    def live_versions(self, subject: str) -> list[Version]:
        """The versions of a subject that are not deleted, by number."""
        return [version for version in list(self.versions(subject)) if not version.deleted]

    def latest(self, subject: str) -> Version | None:
        """The newest version that is not deleted."""
        versions = self.versions(subject)
        # Usually it is the last one. This is a slice because the list may shrink in another thread.
        for version in versions[-1:]:
            if not version.deleted:
                return version
        return next((version for version in reversed(versions) if not version.deleted), None)

    def next_number(self, subject: str) -> int:
        """The number of a subject's next version: one more than its highest, soft-deleted versions included."""
        versions = self.versions(subject)
        return 1 + (versions[-1].number if versions else 0)

    def with_id(self, context: str, schema_id: int) -> tuple[Version, ...]:
        """All versions with an id in a context, except those that claim it for another content."""
        return self._with_identity(_identity(context, schema_id))

    def _with_identity(self, identity: Identity) -> tuple[Version, ...]:
        """As `with_id`. If records claim an id for two contents, the log's oldest record decides.

        Compaction keeps the last record of each key and the order of these records, so all nodes get the same result,
        whenever they read the log.
        """
        held = self.tables.ids.get(identity)
        if not isinstance(held, tuple) or identity not in self.tables.contested:
            return _all(held)
        content = held[0].content
        return tuple(version for version in held if same_identity(version.content, content))

    def is_contested(self, context: str, schema_id: int) -> bool:
        """Tell whether records have claimed an id for two contents."""
        return _identity(context, schema_id) in self.tables.contested

    def content_with_id(self, context: str, schema_id: int) -> Content | None:
        """The content with an id in a context."""
        versions = self.with_id(context, schema_id)
        return versions[0].content if versions else None

    def has_text(self, text: str) -> bool:
        """Tell whether any version of any subject has this text."""
        return self.tables.texts.get(text) is not None

    def id_of(self, context: str, content: Content) -> int | None:
        """The id that a context gave to a content last, if a version still has it."""
        for version in reversed(_all(self.tables.texts.get(content.text))):
            if (
                context_of(version.subject) == context
                and same_identity(version.content, content)
                and not self._contradicted(version)
            ):
                return version.schema_id
        return None

    def with_digest(self, context: str, digest: bytes) -> tuple[Version, ...]:
        """All versions of a context with a digest, under the last id that their content was given."""
        self.index_digests()
        assert self._digests is not None
        for identity in reversed(self._digests.get(digest, ())):
            versions = self._with_identity(identity)
            if versions and context_of(versions[0].subject) == context and digest_of(versions[0].content) == digest:
                return versions
        return ()

    def index_digests(self) -> None:
        """Build the index of digests unless it exists. Look-ups by digest are rare, so a start does not wait for it."""
        with self._digesting:
            if self._digests is None:
                # From here on, each new version adds itself once the lock is free.
                self._digests = {}
                for identity in list(self.tables.ids):
                    self._index_digest(identity)

    def _add_digest(self, version: Version) -> None:
        if self._digests is not None:
            with self._digesting:
                self._index_digest(_identity(context_of(version.subject), version.schema_id))

    def _index_digest(self, identity: Identity) -> None:
        assert self._digests is not None
        # A contested id has several digests: removing a record may change the content of the id.
        for digest in dict.fromkeys(digest_of(version.content) for version in _all(self.tables.ids.get(identity))):
            earlier = (indexed for indexed in self._digests.get(digest, ()) if indexed != identity)
            self._digests[digest] = (*earlier, identity)

    def highest_id(self, context: str) -> int:
        """The highest id ever given in a context, 0 if there is none."""
        return self.tables.highest_ids.get(context, 0)

    def contexts_with_ids(self) -> list[str]:
        """The contexts that have ever given an id, in no order; they may be deleted."""
        return list(self.tables.highest_ids)

    def referrers(self, subject: str, number: int) -> list[Version]:
        """The versions that refer to a version."""
        referrers = (self.version(*referrer) for referrer in self.tables.referrers.get((subject, number), ()))
        return [version for version in referrers if version is not None]

    # Changes, made by the view as it applies records

    def _contradicted(self, version: Version) -> bool:
        """Tell whether a version's id belongs to another content."""
        identity = _identity(context_of(version.subject), version.schema_id)
        if identity not in self.tables.contested:
            return False
        return not same_identity(self._with_identity(identity)[0].content, version.content)

    def _put(self, version: Version) -> bool:
        """Add a version; its subject must not have one with that number.

        It shares its text with the stored versions that have it, so that each text is kept once.

        Returns:
            Whether it claims an id of another content; the id is then contested.
        """
        subject, number, text, tables = version.subject, version.number, version.text, self.tables
        context = context_of(subject)
        identity = _identity(context, version.schema_id)
        same_id, same_text = tables.ids.get(identity), tables.texts.get(text)
        contests = same_id is not None and not same_identity(_all(same_id)[0].content, version.content)
        if contests:
            tables.contested[identity] = True
        if same_text is not None:
            version = _sharing_text(version, _all(same_text)[0])
        self._note_reference(subject, number)
        tables.ids[identity] = version if same_id is None else (*_all(same_id), version)
        # The table keeps the key that it has, which is the text that the versions share.
        tables.texts[text] = version if same_text is None else (*_all(same_text), version)
        self._add_digest(version)
        self._raise_highest_id(context, version.schema_id)
        if version.references:
            self._refer(version)
        versions = self._writable(subject)
        if not versions or versions[-1].number < number:
            versions.append(version)
        else:
            versions.insert(bisect_left(versions, number, key=_number), version)
        return contests

    def _note_reference(self, subject: str, number: int) -> None:
        # In old topics a reference may be to the latest version instead of a number.
        if self.tables.referrers.get((subject, number)) or self.tables.referrers.get((subject, LATEST)):
            self.references_moved += 1

    def _raise_highest_id(self, context: str, schema_id: int) -> None:
        """Note that an id has been given."""
        if schema_id > self.highest_id(context):
            self.tables.highest_ids[context] = schema_id

    def _refer(self, version: Version) -> None:
        referrer = (version.subject, version.number)
        for target in _targets(version):
            if referrer not in (present := self.tables.referrers.get(target, ())):
                self.tables.referrers[target] = (*present, referrer)

    def _remove(self, subject: str, number: int) -> Version | None:
        """Remove a version if it exists; return it."""
        version = self.version(subject, number)
        if version is None:
            return None
        self._note_reference(subject, number)
        _take_out(self.tables.ids, _identity(context_of(subject), version.schema_id), version)
        _take_out(self.tables.texts, version.text, version)
        for target in _targets(version):
            self.tables.referrers[target] = tuple(
                referrer for referrer in self.tables.referrers.get(target, ()) if referrer != (subject, number)
            )
        versions = self._writable(subject)
        del versions[bisect_left(versions, number, key=_number)]
        if not versions:
            self.tables.subjects.pop(subject, None)
        return version

    def _replace(self, old: Version, new: Version) -> None:
        """Replace a version by one with the same subject, number, id and text."""
        self._note_reference(old.subject, old.number)
        _swap(self.tables.ids, _identity(context_of(old.subject), old.schema_id), old, new)
        _swap(self.tables.texts, old.text, old, new)
        versions = self._writable(old.subject)
        versions[bisect_left(versions, old.number, key=_number)] = new

    def _writable(self, subject: str) -> list[Version]:
        """The list of a subject's versions, copied into these tables if it is still that of the base."""
        versions = self.tables.subjects.get(subject)
        if versions is None or (self._below is not None and versions is self._below.subjects.get(subject)):
            versions = list(versions or ())
            self.tables.subjects[subject] = versions
        return versions


def _identity(context: str, schema_id: int) -> Identity:
    return schema_id if context == DEFAULT_CONTEXT else (context, schema_id)


def _all(held: Held | None) -> tuple[Version, ...]:
    if held is None:
        return ()
    return held if isinstance(held, tuple) else (held,)


def _sharing_text(version: Version, stored: Version) -> Version:
    """The version with the text, and if it is the same the whole content, of a stored version that has this text."""
    same = stored.kept == version.kept
    return replace(version, kept=stored.kept if same else kept_form(version.content.with_text(stored.text)))


def _take_out(table: Table[K, Held], key: K, version: Version) -> None:
    remaining = tuple(stored for stored in _all(table.get(key)) if stored is not version)
    if remaining:
        table[key] = remaining[0] if len(remaining) == 1 else remaining
    else:
        table.pop(key, None)


def _swap(table: Table[K, Held], key: K, old: Version, new: Version) -> None:
    versions = tuple(new if version is old else version for version in _all(table.get(key)))
    table[key] = versions[0] if len(versions) == 1 else versions


def _targets(version: Version) -> list[SubjectVersion]:
    """The versions that a version refers to; a reference that names no context is to the version's own."""
    references = version.references
    if not references:
        return []
    context = context_of(version.subject)
    return [(subject_in(context, reference.subject), reference.version) for reference in references]


def _number(version: Version) -> int:
    return version.number
