"""Logs with one fault each, record by record, as other servers have left them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from magicbyte.operations.closing import Closing
from magicbyte.operations.sources.port import Origin, RawRecord, Reading
from magicbyte.operations.state import State

Pair = tuple[bytes | None, bytes | None]


def key(subject: str, version: int) -> bytes:
    """The key that servers write."""
    return f'{{"keytype":"SCHEMA","subject":"{subject}","version":{version},"magic":1}}'.encode()


def spaced(subject: str, version: int) -> bytes:
    """The same key as older servers of another product wrote it."""
    return f'{{"keytype": "SCHEMA", "subject": "{subject}", "version": {version}, "magic": 1}}'.encode()


def value(
    subject: str, version: int, schema_id: int, text: str = "int", *, deleted: bool = False, more: str = ""
) -> bytes:
    """The value of a version."""
    return (
        f'{{"subject":"{subject}","version":{version},"id":{schema_id},{more}"schema":"\\"{text}\\"",'
        f'"deleted":{str(deleted).lower()}}}'
    ).encode()


def deletion(subject: str, version: int) -> Pair:
    """A soft deletion of a subject."""
    name = subject.encode()
    return (
        b'{"keytype":"DELETE_SUBJECT","subject":"%b","magic":0}' % name,
        b'{"subject":"%b","version":%d}' % (name, version),
    )


def mark(context: str, highest: int) -> Pair:
    """A mark of the highest id."""
    name = context.encode()
    return (
        b'{"keytype":"MAGICBYTE_ID_MARK","context":"%b","magic":0}' % name,
        b'{"context":"%b","maxId":%d}' % (name, highest),
    )


def refers(*targets: tuple[str, int]) -> str:
    """The part of a value with references."""
    references = ",".join(f'{{"name":"{name}","subject":"{name}","version":{version}}}' for name, version in targets)
    return f'"schemaType":"JSON","references":[{references}],'


CONFIG_FULL = b'{"compatibilityLevel":"FULL"}'

#: Name -> code -> the records of a log in which this fault and no other is found.
PLANTED: Mapping[str, tuple[str, tuple[Pair, ...]]] = {
    "two values of a version": (
        "KEY_FORMS",
        ((key("a", 1), value("a", 1, 1)), (spaced("a", 1), value("a", 1, 1, deleted=True))),
    ),
    "a tombstone of one form leaves the other": (
        "KEY_FORMS",
        ((spaced("a", 1), value("a", 1, 1)), (key("a", 1), value("a", 1, 1)), (spaced("a", 1), None)),
    ),
    "two global configs": (
        "KEY_FORMS",
        (
            (b'{"keytype":"CONFIG","subject":null,"magic":0}', b'{"compatibilityLevel":"NONE"}'),
            (b'{"keytype":"CONFIG","magic":0}', CONFIG_FULL),
        ),
    ),
    "a tombstone with bytes of its own": (
        "ORPHAN_TOMBSTONE",
        ((spaced("a", 1), value("a", 1, 1)), (key("a", 1), None)),
    ),
    "an id of two texts": (
        "ID_TWO_CONTENTS",
        ((key("a", 1), value("a", 1, 1)), (key("b", 1), value("b", 1, 1, "long"))),
    ),
    "an id of two texts in a context": (
        "ID_TWO_CONTENTS",
        (
            (key("a", 1), value("a", 1, 1)),
            (key(":.eu:a", 1), value(":.eu:a", 1, 1, "long")),
            (key(":.eu:b", 1), value(":.eu:b", 1, 1, "string")),
        ),
    ),
    "an id that was moved": (
        "VERSION_REPOINTED",
        ((key("a", 1), value("a", 1, 1)), (key("a", 1), value("a", 1, 2, "long"))),
    ),
    "a reference to a version that was never there": (
        "DANGLING_REFERENCE",
        (
            (key("b", 1), value("b", 1, 1)),
            (key("a", 1), value("a", 1, 2, "long", more=refers(("b", 2)))),
        ),
    ),
    "two schemas that refer to each other": (
        "REFERENCE_CYCLE",
        (
            (key("a", 1), value("a", 1, 1, more=refers(("b", 1)))),
            (key("b", 1), value("b", 1, 2, "long", more=refers(("a", 1)))),
        ),
    ),
    "a schema that refers to itself": (
        "REFERENCE_CYCLE",
        ((key("a", 1), value("a", 1, 1, more=refers(("a", 1)))),),
    ),
    "a value that is cut": ("UNREADABLE", ((key("a", 1), b'{"subject":"a"'),)),
    "a key of no type": ("UNREADABLE", ((b"hello", b"{}"),)),
    "a key of an unknown type": ("UNREADABLE", ((b'{"keytype":"LATER","magic":0}', b"{}"),)),
    "no key": ("UNREADABLE", ((None, b"{}"),)),
    "an access rule that lacks its parts": ("UNREADABLE", ((b'{"keytype":"MAGICBYTE_ACL","magic":0}', b"{}"),)),
    "a version beyond 32 bits": ("UNREADABLE", ((key("a", 2**31), value("a", 1, 1)),)),
    "a mark that says nothing": ("UNREADABLE", ((mark(".", 1)[0], b"{}"),)),
    "a key with an offset and a node": (
        "FOREIGN_KEYS",
        (
            (
                b'{"keytype":"SCHEMA","subject":"a","version":1,"magic":1,"seq":0,"node":0}',
                value("a", 1, 1),
            ),
        ),
    ),
    "the highest id was deleted without a mark": (
        "MARK_LOW",
        ((key("a", 1), value("a", 1, 1)), (key("a", 2), value("a", 2, 2, "long")), (key("a", 2), None)),
    ),
    "a mark below a deleted id": (
        "MARK_LOW",
        (mark(".eu", 2), (key(":.eu:a", 1), value(":.eu:a", 1, 3)), (key(":.eu:a", 1), None)),
    ),
    "a mark that was lowered": ("MARK_LOW", (mark(".", 5), mark(".", 4))),
    "a version before a deletion that does not know it": (
        "DELETED_LIVE",
        (
            (key("a", 1), value("a", 1, 1)),
            (key("a", 2), value("a", 2, 2, "long")),
            deletion("a", 1),
        ),
    ),
}

#: Name -> the records of a log in which nothing is wrong, though it looks odd.
HEALTHY: Mapping[str, tuple[Pair, ...]] = {
    "nothing": (),
    "one form that is not ours": (
        (spaced("a", 1), value("a", 1, 1)),
        (spaced("a", 1), value("a", 1, 1, deleted=True)),
        (spaced("a", 1), None),
        mark(".", 1),
    ),
    "a fresh value behind the tombstone of another form": (
        (spaced("a", 1), value("a", 1, 1)),
        (spaced("a", 1), None),
        (key("a", 1), value("a", 1, 1)),
    ),
    "that value, compacted": ((spaced("a", 1), None), (key("a", 1), value("a", 1, 1))),
    "tombstones of all forms": (
        (spaced("a", 1), value("a", 1, 1)),
        (key("a", 1), value("a", 1, 1)),
        mark(".", 1),
        (spaced("a", 1), None),
        (key("a", 1), None),
    ),
    "ids above a mark": (mark(".", 1), (key("a", 1), value("a", 1, 2)), (key("a", 2), value("a", 2, 3, "long"))),
    "a subject deleted softly, undeleted, and registered again": (
        (key("a", 1), value("a", 1, 1)),
        deletion("a", 1),
        (key("a", 1), value("a", 1, 1)),
        (key("a", 2), value("a", 2, 2, "long")),
    ),
    "a subject deleted for good, and made anew": (
        (key("a", 1), value("a", 1, 1)),
        deletion("a", 1),
        mark(".", 1),
        (key("a", 1), None),
        (key("a", 1), value("a", 1, 2, "long")),
    ),
    "that subject, compacted": (deletion("a", 1), mark(".", 1), (key("a", 1), value("a", 1, 2, "long"))),
    "an old deletion, and a version that was deleted alone before it": (
        (key("a", 1), value("a", 1, 1)),
        (key("a", 2), value("a", 2, 2, "long", deleted=True)),
        deletion("a", 1),
    ),
    "one id in two contexts": (
        (key("a", 1), value("a", 1, 1)),
        (
            b'{"keytype":"CONTEXT","tenant":"default","context":".eu","magic":0}',
            b'{"tenant":"default","context":".eu"}',
        ),
        (key(":.eu:a", 1), value(":.eu:a", 1, 1, "long")),
    ),
    "one schema under two subjects": ((key("a", 1), value("a", 1, 1)), (key("b", 1), value("b", 1, 1))),
    "a reference to a version that is deleted softly": (
        (key("b", 1), value("b", 1, 1, deleted=True)),
        (key("a", 1), value("a", 1, 2, "long", more=refers(("b", 1)))),
    ),
    "a reference to the latest version": (
        (key("b", 1), value("b", 1, 1)),
        (key("a", 1), value("a", 1, 2, "long", more=refers(("b", -1)))),
    ),
    "two versions that refer to a third": (
        (key("c", 1), value("c", 1, 1)),
        (key("b", 1), value("b", 1, 2, "long", more=refers(("c", 1)))),
        (key("a", 1), value("a", 1, 3, "float", more=refers(("b", 1), ("c", 1)))),
    ),
    "types of newer servers": (
        (b'{"keytype":"ASSOC","tenant":"default","resourceName":"t","magic":0}', b"{}"),
        (b'{"keytype":"MAGICBYTE_LATER","magic":0}', b"{}"),
        (b'{"keytype":"NOOP","magic":0}', None),
    ),
    "what nobody reads, removed": ((b"hello", b"{}"), (b"hello", None), (key("a", 1), b"{"), (key("a", 1), None)),
    "a fault that was written over": ((key("a", 1), b"{"), (key("a", 1), value("a", 1, 1))),
    "two deletions of one subject, by two servers": (
        (key("a", 1), value("a", 1, 1)),
        deletion("a", 1),
        (b'{"keytype": "DELETE_SUBJECT", "subject": "a", "magic": 0}', b'{"subject":"a","version":1}'),
    ),
}


def records_of(pairs: Iterable[Pair]) -> list[RawRecord]:
    """Records with offsets from 0 and growing times."""
    return [RawRecord(offset, 1_000 + offset, *pair) for offset, pair in enumerate(pairs)]


class PlantedSource(Closing):
    """A raw source whose records are in a list."""

    def __init__(self, pairs: Iterable[Pair]) -> None:
        self.name = "planted"
        self.list = records_of(pairs)

    def read(self) -> Reading:
        return Reading(State.of_entries(record.entry for record in self.list), Origin(self.name))

    def records(self) -> Iterator[RawRecord]:
        return iter(self.list)

    def origin(self) -> Origin:
        return Origin(self.name)

    def notes(self) -> tuple[str, ...]:
        return ()

    def topic_configs(self) -> Mapping[str, str]:
        return {}

    def append(self, pairs: Iterable[Pair]) -> None:
        """Append records, as a server does."""
        self.list = records_of([*((record.key, record.value) for record in self.list), *pairs])

    def compact(self) -> None:
        """Keep the last record of each key, and drop tombstones."""
        last = {record.key: record.offset for record in self.list}
        self.list = [one for one in self.list if last[one.key] == one.offset and one.value is not None]
