"""The registry's state: a fold over the log, changed by `apply` alone, read by look-ups."""

from __future__ import annotations

import logging
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from registry import records
from registry.identity import digest_of
from registry.log.port import BEGINNING, LogEntry, Offset
from registry.model import DEFAULT_CONTEXT, MODES, Config, Content, Version, context_of, parse_subject, subject_in
from registry.overlay import Table, layer_over
from registry.records import Key, Undecodable

log = logging.getLogger("magicbyte.registry.view")

#: How many entries a view keeps at hand.
RECENT_ENTRIES = 5000

#: A subject and a version number.
SubjectVersion = tuple[str, int]
#: An id, with its context where that is not the default one: most are, and there are many.
Identity = int | tuple[str, int]


def _identity(context: str, schema_id: int) -> Identity:
    return schema_id if context == DEFAULT_CONTEXT else (context, schema_id)


def _fingerprint(context: str, digest: bytes) -> bytes:
    return digest if context == DEFAULT_CONTEXT else context.encode() + digest


class Tables:
    """What a view looks things up in; laid over those of another view, or empty."""

    def __init__(self, base: Tables | None = None) -> None:
        self.subjects: Table[str, list[Version]] = layer_over(base.subjects if base else None)
        self.ids: Table[Identity, tuple[Version, ...]] = layer_over(base.ids if base else None)
        self.digests: Table[bytes, int] = layer_over(base.digests if base else None)
        self.highest_ids: Table[str, int] = layer_over(base.highest_ids if base else None)
        self.referrers: Table[SubjectVersion, tuple[SubjectVersion, ...]] = layer_over(base.referrers if base else None)
        self.configs: Table[str | None, Config] = layer_over(base.configs if base else None)
        self.modes: Table[str | None, str] = layer_over(base.modes if base else None)
        self.contexts: Table[str, bool] = layer_over(base.contexts if base else None)
        self.raw_keys: Table[Key, tuple[bytes, ...]] = layer_over(base.raw_keys if base else None)


class View:
    """Subjects, ids, configs and modes as the log's records leave them.

    `apply` is total: a record that cannot be read is counted, logged and passed over. It parses no schema text and
    does no I/O. A view over a base shows the base and what was applied to the view since, and leaves the base as it is.

    Reads may run in other threads than `apply`: each is a look-up of a table, or copies its keys in one step.
    """

    def __init__(self, base: View | None = None) -> None:
        self._base = base
        self.offset: Offset = base.offset if base else BEGINNING
        #: The last mark of a new leader: where it had settled all that was written before.
        self.settled_offset: Offset = base.settled_offset if base else BEGINNING
        #: The last entries that were applied, for those who follow the changes.
        self.recent: deque[LogEntry] = deque(maxlen=RECENT_ENTRIES)
        #: Records passed over, by reason.
        self.passed_over: Counter[str] = Counter()
        self.tables: Tables = Tables(base.tables if base else None)
        tables = self.tables
        self._subjects, self._ids, self._digests = tables.subjects, tables.ids, tables.digests
        self._highest_ids, self._referrers = tables.highest_ids, tables.referrers
        self._configs, self._modes, self._contexts = tables.configs, tables.modes, tables.contexts
        self._raw_keys = tables.raw_keys

    # Reads

    def subjects(self) -> list[str]:
        """All subjects that have a version, soft-deleted ones included, in no order."""
        return [name for name in list(self._subjects) if self._subjects.get(name)]

    def versions(self, subject: str) -> Sequence[Version]:
        """All versions of a subject by number, soft-deleted ones included."""
        return self._subjects.get(subject, [])

    def version(self, subject: str, number: int) -> Version | None:
        """One version, soft deleted or not."""
        versions = self.versions(subject)
        if not versions or versions[-1].number < number:
            return None
        try:
            found = versions[bisect_left(versions, number, key=_number)]
        except IndexError:  # beyond the end, or the list shrank in another thread
            return None
        return found if found.number == number else None

    def live_versions(self, subject: str) -> list[Version]:
        """The versions of a subject that are not deleted, by number."""
        return [version for version in list(self.versions(subject)) if not version.deleted]

    def latest(self, subject: str) -> Version | None:
        """The newest version that is not deleted."""
        return next((version for version in reversed(self.versions(subject)) if not version.deleted), None)

    def with_id(self, context: str, schema_id: int) -> tuple[Version, ...]:
        """All versions that carry an id of a context, soft-deleted ones included."""
        return self._ids.get(_identity(context, schema_id), ())

    def content_with_id(self, context: str, schema_id: int) -> Content | None:
        """What an id of a context stands for."""
        versions = self._ids.get(_identity(context, schema_id))
        return versions[0].content if versions else None

    def id_of(self, context: str, content: Content) -> int | None:
        """The id that a context has given to a content, if any version still carries it."""
        digest = digest_of(content)
        for key in (digest, digest + content.schema_type.encode()):
            schema_id = self.id_of_digest(context, key)
            holder = None if schema_id is None else self.content_with_id(context, schema_id)
            if holder is not None and holder.schema_type == content.schema_type:
                return schema_id
        return None

    def id_of_digest(self, context: str, digest: bytes) -> int | None:
        """The id that a context has given to the content of a digest, if any version still carries it."""
        schema_id = self._digests.get(_fingerprint(context, digest))
        return schema_id if schema_id is not None and _identity(context, schema_id) in self._ids else None

    def highest_id(self, context: str) -> int:
        """The highest id ever given in a context, 0 where none was."""
        return self._highest_ids.get(context, 0)

    def contexts(self) -> list[str]:
        """The contexts besides the default one, sorted."""
        return sorted(list(self._contexts))  # noqa: C414  the copy is one step, the sort is not

    def referrers(self, subject: str, number: int) -> list[Version]:
        """The versions that refer to a version, soft-deleted ones included."""
        found = (self.version(*each) for each in self._referrers.get((subject, number), ()))
        return [version for version in found if version is not None]

    def config(self, subject: str | None) -> Config | None:
        """What is configured for a subject or context; None asks for the global one."""
        return self._configs.get(subject)

    def configured(self) -> list[str]:
        """The subjects and contexts that have a config of their own."""
        return [name for name in list(self._configs) if name is not None]

    def with_modes(self) -> list[str]:
        """The subjects and contexts that have a mode of their own."""
        return [name for name in list(self._modes) if name is not None]

    def mode(self, subject: str | None) -> str | None:
        """The mode set for a subject or context; None asks for the global one."""
        return self._modes.get(subject)

    def key_bytes(self, key: Key) -> bytes:
        """The key as its record in the log has it, else as a new record will.

        Compaction compares bytes, so an update or tombstone of a record from another writer must repeat its own.
        """
        forms = self._raw_keys.get(key)
        return forms[-1] if forms else records.encode_key(key)

    def key_forms(self, key: Key) -> tuple[bytes, ...]:
        """All bytes under which the log may hold the key: a removal must reach every one of them."""
        return self._raw_keys.get(key) or (records.encode_key(key),)

    # The mutator

    def apply(self, entry: LogEntry) -> None:
        """Take in the next entry of the log."""
        try:
            key = records.decode_key(entry.key)
            value = None if entry.value is None else records.decode_value(entry.value)
            handler = _HANDLERS.get(key.keytype)
            if handler:
                handler(self, key, value, entry)
            self._remember_key(key, entry.key)
        except Undecodable as error:
            self._pass_over("undecodable", entry, str(error))
        except Exception as error:  # noqa: BLE001  no record may stop the reader
            self._pass_over("undecodable", entry, f"{error!r}")
        if self._base is None:
            self.recent.append(entry)
        # Last, so that whoever sees the offset sees all that it stands for.
        self.offset = entry.offset

    def _remember_key(self, key: Key, raw: bytes | None) -> None:
        """Note the bytes of a key where they are not ours alone, the latest last."""
        ours = records.encode_key(key)
        forms = self._raw_keys.get(key)
        if raw is not None and (forms or raw != ours):
            self._raw_keys[key] = (*(form for form in forms or (ours,) if form != raw), raw)

    def _pass_over(self, reason: str, entry: LogEntry, detail: str) -> None:
        self.passed_over[reason] += 1
        if self._base is None:
            log.warning("record at offset %d passed over (%s): %s", entry.offset, reason, detail)

    def _apply_schema(self, key: Key, value: dict[str, Any] | None, entry: LogEntry) -> None:
        assert key.subject is not None
        assert key.version is not None
        if value is None:
            self._remove(key.subject, key.version)
            return
        version = records.decode_version(key, value, entry.timestamp)
        context = context_of(version.subject)
        same_id = self.with_id(context, version.schema_id)
        others = [each for each in same_id if each.number != version.number or each.subject != version.subject]
        if others:
            known = others[0].content
            if known.schema_type != version.content.schema_type or digest_of(known) != digest_of(version.content):
                self._pass_over("id conflict", entry, f"id {version.schema_id} already stands for another schema")
                return
            # Equal identity is not quite equal content: null and empty fields count alike.
            same = known == version.content
            version = replace(version, content=known if same else replace(version.content, text=known.text))
        self._remove(version.subject, version.number)
        self._put(context, version)

    def _put(self, context: str, version: Version) -> None:
        identity = _identity(context, version.schema_id)
        self._ids[identity] = (*self._ids.get(identity, ()), version)
        digest = digest_of(version.content)
        known = self.id_of_digest(context, digest)
        holder = None if known is None else self.content_with_id(context, known)
        if holder is not None and holder.schema_type != version.content.schema_type:
            # The digest leaves the type out: contents that differ in nothing else are kept apart here.
            digest += version.content.schema_type.encode()
        self._digests[_fingerprint(context, digest)] = version.schema_id
        self._highest_ids[context] = max(self.highest_id(context), version.schema_id)
        for target in _targets(version):
            mine = (version.subject, version.number)
            if mine not in (present := self._referrers.get(target, ())):
                self._referrers[target] = (*present, mine)
        versions = self._writable(version.subject)
        if not versions or versions[-1].number < version.number:
            versions.append(version)
        else:
            versions.insert(bisect_left(versions, version.number, key=_number), version)

    def _remove(self, subject: str, number: int) -> None:
        version = self.version(subject, number)
        if version is None:
            return
        identity = _identity(context_of(subject), version.schema_id)
        remaining = tuple(each for each in self._ids.get(identity, ()) if each is not version)
        if remaining:
            self._ids[identity] = remaining
        else:
            self._ids.pop(identity, None)
        for target in _targets(version):
            self._referrers[target] = tuple(
                each for each in self._referrers.get(target, ()) if each != (subject, number)
            )
        versions = self._writable(subject)
        del versions[bisect_left(versions, number, key=_number)]
        if not versions:
            self._subjects.pop(subject, None)

    def _writable(self, subject: str) -> list[Version]:
        """The list of a subject's versions that belongs to this view alone."""
        versions = self._subjects.get(subject)
        if versions is None or (self._base is not None and versions is self._base.tables.subjects.get(subject)):
            versions = list(versions or ())
            self._subjects[subject] = versions
        return versions

    def _apply_deletion(self, key: Key, value: dict[str, Any] | None, _entry: LogEntry) -> None:
        if value is None:
            return
        assert key.subject is not None
        highest = value.get("version")
        if type(highest) is not int:
            raise Undecodable("a DELETE_SUBJECT value needs a version")
        for version in list(self.versions(key.subject)):
            if version.number <= highest and not version.deleted:
                self._replace(version, replace(version, deleted=True))

    def _replace(self, old: Version, new: Version) -> None:
        identity = _identity(context_of(old.subject), old.schema_id)
        self._ids[identity] = tuple(new if each is old else each for each in self._ids.get(identity, ()))
        versions = self._writable(old.subject)
        versions[bisect_left(versions, old.number, key=_number)] = new

    def _apply_clearing(self, key: Key, _value: dict[str, Any] | None, _entry: LogEntry) -> None:
        assert key.subject is not None
        for version in list(self.versions(key.subject)):
            if version.deleted:
                self._remove(version.subject, version.number)

    def _apply_config(self, key: Key, value: dict[str, Any] | None, _entry: LogEntry) -> None:
        if value is None:
            self._configs.pop(key.subject, None)
            return
        try:
            self._configs[key.subject] = Config.from_json(value)
        except TypeError as error:
            raise Undecodable(f"a CONFIG value is malformed: {error}") from None

    def _apply_mode(self, key: Key, value: dict[str, Any] | None, _entry: LogEntry) -> None:
        mode = None if value is None else value.get("mode")
        if mode is None:
            self._modes.pop(key.subject, None)
        elif isinstance(mode, str) and mode in MODES:
            self._modes[key.subject] = mode
        else:
            raise Undecodable(f"unknown mode {mode!r}")

    def _apply_context(self, key: Key, value: dict[str, Any] | None, _entry: LogEntry) -> None:
        assert key.subject is not None
        if value is None:
            self._contexts.pop(key.subject, None)
        else:
            self._contexts[key.subject] = True

    def _apply_settled(self, _key: Key, _value: dict[str, Any] | None, entry: LogEntry) -> None:
        self.settled_offset = entry.offset

    def _apply_id_mark(self, key: Key, value: dict[str, Any] | None, _entry: LogEntry) -> None:
        assert key.subject is not None
        highest = None if value is None else value.get("maxId")
        if type(highest) is not int:
            raise Undecodable("an id mark needs a maxId")
        self._highest_ids[key.subject] = max(self.highest_id(key.subject), highest)


_HANDLERS: dict[str, Callable[[View, Key, dict[str, Any] | None, LogEntry], None]] = {
    records.SCHEMA: View._apply_schema,  # noqa: SLF001  the class's own table
    records.CONFIG: View._apply_config,  # noqa: SLF001
    records.MODE: View._apply_mode,  # noqa: SLF001
    records.CONTEXT: View._apply_context,  # noqa: SLF001
    records.DELETE_SUBJECT: View._apply_deletion,  # noqa: SLF001
    records.CLEAR_SUBJECT: View._apply_clearing,  # noqa: SLF001
    records.SETTLED: View._apply_settled,  # noqa: SLF001
    records.ID_MARK: View._apply_id_mark,  # noqa: SLF001
}


def _targets(version: Version) -> list[SubjectVersion]:
    """The versions that a version refers to, within its own context where a reference names none."""
    context = context_of(version.subject)
    return [(subject_in(context, each.subject), each.version) for each in version.content.references]


def _number(version: Version) -> int:
    return version.number


def named(subjects: Iterable[str], prefix: str) -> list[str]:
    """The subjects that a subjectPrefix asks for, sorted: of the default context unless it names another or `:*:`."""
    if prefix.startswith(":*:"):
        tail = prefix.removeprefix(":*:")
        return sorted(name for name in subjects if parse_subject(name).name.startswith(tail))
    wanted = parse_subject(prefix)
    parsed = ((name, parse_subject(name)) for name in subjects)
    return sorted(name for name, each in parsed if each.context == wanted.context and each.name.startswith(wanted.name))
