"""The records of a restore that a log holds already: only the beginning of the same restore counts."""

from __future__ import annotations

import pytest

from magicbyte.operations.restore.targets.log_records import Foreign, count_written, records_of_state, unlike
from magicbyte.operations.sources.port import RawRecord
from registry.log.port import Record
from tests.operations.restore.made_registry import made_state, state_of


def _log(text: str) -> list[RawRecord]:
    """Records by key and value, such as `a1 b2`; `a-` is a tombstone, and each has its own time."""
    pairs = text.split()
    return [
        RawRecord(i, 5, one[:1].encode(), None if one[1:] == "-" else one[1:].encode()) for i, one in enumerate(pairs)
    ]


@pytest.mark.parametrize(
    ("present", "wanted", "compacted", "written"),
    [
        ("", "a1 b1", False, 0),
        ("a1", "a1 b1", False, 1),
        ("a1 b1", "a1 b1", False, 2),
        ("b1", "a1 b1", False, None),
        ("a1 c1", "a1 b1", False, None),
        ("a1 b1 c1", "a1 b1", False, None),
        ("b1 a2", "a1 b1 a2 c1", False, None),
        # Compaction has removed a1.
        ("b1 a2", "a1 b1 a2 c1", True, 3),
        # Nothing later has its key.
        ("b1", "a1 b1 a2", True, None),
        ("b1 a2", "a1 b1 c1 a2", True, None),
        ("b1 a-", "a1 b1 a-", True, 3),
        ("a1 a1", "a1 b1 a1", True, None),
    ],
)
def test_only_the_beginning_of_the_same_restore_counts(
    present: str, wanted: str, *, compacted: bool, written: int | None
) -> None:
    rest = iter(_log(wanted))
    if written is None:
        with pytest.raises(Foreign):
            count_written(_log(present), rest, compacted=compacted)
        return
    assert count_written(_log(present), rest, compacted=compacted) == written
    assert list(rest) == _log(wanted)[written:]


@pytest.mark.parametrize(
    ("present", "wanted", "is_same"),
    [
        (RawRecord(0, 5, b"a", b"1"), RawRecord(9, 5, b"a", b"1"), True),
        (RawRecord(0, 5, b"a", b"1"), RawRecord(0, 6, b"a", b"1"), False),
        (RawRecord(0, 5, b"a", b"1"), RawRecord(0, 0, b"a", b"1"), True),
        (RawRecord(0, 5, b"a", b"1"), RawRecord(0, -1, b"a", b"1"), True),
        (RawRecord(0, 0, b"a", b"1"), RawRecord(0, 5, b"a", b"1"), False),
        (RawRecord(0, 5, b"a", b"1"), RawRecord(0, 1, b"a", b"1"), False),
        (RawRecord(0, 5, b"a", b"1", (("h", b"x"),)), RawRecord(0, 5, b"a", b"1"), False),
        (RawRecord(0, 5, b"a", None), RawRecord(0, 5, b"a", b""), False),
    ],
)
def test_times_and_headers_count(present: RawRecord, wanted: RawRecord, *, is_same: bool) -> None:
    if is_same:
        assert count_written([present], iter([wanted]), compacted=False) == 1
        return
    with pytest.raises(Foreign):
        count_written([present], iter([wanted]), compacted=False)


@pytest.mark.parametrize(
    ("present", "wanted", "compacted", "told"),
    [
        ("", "", False, ""),
        ("a1 b1", "a1 b1", False, ""),
        ("b1 a2", "a1 b1 a2", True, ""),
        ("a1", "a1 b1", False, "the log ends before the last 1 record of the restore"),
        ("a1", "a1 b1 b-", True, "the log ends before the last 2 records of the restore"),
        ("a1 b1 c1", "a1 b1", False, "the records are not those that were restored: its record at offset 2, key c"),
        ("a1 b2", "a1 b1", True, "the records are not those that were restored: its record at offset 1, key b"),
        ("b1 a2", "a1 b1 a2", False, "the records are not those that were restored: its record at offset 0, key b"),
    ],
)
def test_a_log_is_compared_with_what_was_to_be_written(
    present: str, wanted: str, *, compacted: bool, told: str
) -> None:
    found = unlike(_log(present), iter(_log(wanted)), compacted=compacted)
    assert (len(found), "".join(found)[: len(told)]) == (1 if told else 0, told)


def test_the_records_of_a_state_make_the_state() -> None:
    made = made_state()
    assert state_of([Record(one.key or b"", one.value, one.timestamp) for one in records_of_state(made)]) == made
    assert list(records_of_state(made)) == list(records_of_state(made))
