"""A small state and a small log, for tests of files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from magicbyte.operations.closing import Closing
from magicbyte.operations.sources.port import Origin, RawRecord, Reading
from magicbyte.operations.state import State

STATE = State.of_lines(
    [
        {"kind": "context", "context": ".", "listed": True, "maxId": 9},
        {"kind": "context", "context": ".eu", "listed": True, "maxId": 1},
        {"kind": "schema", "subject": "a", "version": 2, "id": 7, "schema": '"int"', "deleted": True, "ts": 5},
        {
            "kind": "schema",
            "subject": ":.eu:b",
            "version": 1,
            "id": 1,
            "schemaType": "JSON",
            "schema": '{"$ref":"ä"}',
            "references": [{"name": "ä", "subject": "a", "version": 2}],
            "metadata": {"properties": {"owner": "x"}},
            "deleted": False,
            "ts": 6,
        },
        {"kind": "config", "subject": "a", "config": {"compatibilityLevel": "FULL"}},
        {"kind": "mode", "mode": "IMPORT"},
    ]
)
READING = Reading(
    STATE,
    Origin("http://registry:8081", "confluent", "7.9.0", 41, {"kafka": "k1"}, {"compatibilityLevel": "BACKWARD"}),
    ("the highest ids are not known",),
)
#: With a tombstone, a key type that nobody knows, a key that is not text, gaps between offsets, and headers.
RECORDS = [
    RawRecord(0, 100, b'{"keytype":"NOOP","magic":0}', None),
    RawRecord(
        3,
        101,
        b'{"keytype":"SCHEMA","subject":"a","version":1,"magic":1}',
        b'{"subject":"a","version":1,"id":1,"schema":"\\"int\\"","deleted":false}',
        (("h", b"\x00"), ("h", None)),
    ),
    RawRecord(4, 101, b'{"keytype":"FOREIGN"}', b"{}"),
    RawRecord(9, 0, b"\xff\x00", b""),
    RawRecord(10, 102, None, b"\xc3\x28"),
]


class Records(Closing):
    """A raw source of records in memory."""

    name = "records"

    def __init__(self, records: Sequence[RawRecord]) -> None:
        self._records = records
        self.configs: Mapping[str, str] = {"cleanup.policy": "compact", "partitions": "1"}

    def read(self) -> Reading:
        return Reading(State.of_entries(record.entry for record in self._records), Origin(self.name))

    def records(self) -> Iterator[RawRecord]:
        yield from self._records

    def origin(self) -> Origin:
        return Origin(self.name)

    def notes(self) -> tuple[str, ...]:
        return ("a note",)

    def topic_configs(self) -> Mapping[str, str]:
        return self.configs


def quiet(_lines: int) -> None:
    """No progress."""
