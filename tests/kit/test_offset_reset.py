"""The rules of offset resets, which the command and the REST proxy share."""

from __future__ import annotations

import pytest

from magicbyte.kit.kafka.offset_reset import NothingCommitted, Target, reset_of


@pytest.mark.parametrize(
    ("target", "committed", "at_time", "expected"),
    [
        # wanted, new, skipped, repeated; the log has the offsets 10 to 19, and 20 is the next.
        (Target(is_earliest=True), 15, None, (10, 10, 0, 5)),
        (Target(), 15, None, (20, 20, 5, 0)),
        (Target(offset=12), 15, None, (12, 12, 0, 3)),
        (Target(offset=17), 15, None, (17, 17, 2, 0)),
        (Target(offset=15), 15, None, (15, 15, 0, 0)),
        (Target(offset=3), 15, None, (3, 10, 0, 5)),
        (Target(offset=99), 15, None, (99, 20, 5, 0)),
        (Target(timestamp=1), 15, 13, (13, 13, 0, 2)),
        (Target(timestamp=1), 15, None, (20, 20, 5, 0)),
        (Target(timestamp=1), 15, 0, (0, 10, 0, 5)),
        (Target(shift=-2), 15, None, (13, 13, 0, 2)),
        (Target(shift=9), 15, None, (24, 20, 5, 0)),
        (Target(is_earliest=True), None, None, (10, 10, None, None)),
        # Records before the log's first one are gone: the group cannot skip them any more.
        (Target(), 4, None, (20, 20, 10, 0)),
        # A topic that was made anew: the committed offset is behind the end.
        (Target(is_earliest=True), 30, None, (10, 10, 0, 10)),
        (Target(), 30, None, (20, 20, 0, 0)),
    ],
)
def test_a_reset(
    target: Target, committed: int | None, at_time: int | None, expected: tuple[int, int, int | None, int | None]
) -> None:
    reset = reset_of(target, committed=committed, begin=10, end=20, at_time=at_time)
    assert (reset.wanted, reset.new, reset.skipped, reset.repeated) == expected


def test_a_shift_needs_a_committed_offset() -> None:
    with pytest.raises(NothingCommitted):
        reset_of(Target(shift=1), committed=None, begin=10, end=20)
