"""The marker in a target decides on the next batch: write it, skip it, or refuse it."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from spark_avro.pipeline.ports import BatchIdentity, SinkRefused, SourceRange
from spark_avro.pipeline.sinks.marker import Marker, MarkerKey, is_written, marker_of, read_marker

_Part = tuple[int, int, int]


def _batch(number: int, *parts: _Part, topic_id: str | None = "one", name: str = "p") -> BatchIdentity:
    """A batch of partition, start and end of topic t."""
    ranges = tuple(SourceRange("t", *part) for part in parts)
    return BatchIdentity(name, "q1", number, ranges, {} if topic_id is None else {"t": topic_id})


#: Partition 1 had records in batch 4 only.
LAST = marker_of(
    _batch(5, (0, 50, 100)), marker_of(_batch(4, (0, 0, 50), (1, 0, 7)), None, written=57), written=40, refused=10
)


def _batch_of_input(number: int, input_id: str) -> BatchIdentity:
    return BatchIdentity("p", "q1", number, input_id=input_id)


LAST_INPUT = marker_of(_batch_of_input(5, "a"), None, written=3)


@pytest.mark.parametrize(
    ("marker", "batch", "expected"),
    [
        (None, _batch(0, (0, 0, 50)), False),
        (None, _batch(7, (0, 70, 80)), False),
        (LAST, _batch(5, (0, 50, 100)), True),
        (LAST, _batch(5, (0, 50, 100), name="renamed"), True),
        (LAST, _batch(6, (0, 100, 101)), False),
        (LAST, _batch(9, (0, 100, 101), (1, 7, 9)), False),
        (LAST, _batch(6), False),
        # A new partition begins anywhere.
        (LAST, _batch(6, (0, 100, 101), (2, 30, 31)), False),
        # A broker before 2.8 has no ids.
        (LAST, _batch(6, (0, 100, 101), topic_id=None), False),
        (LAST, _batch(4, (0, 0, 50), (1, 0, 7)), "runs batch q1-4, and the target has batch 5"),
        # An older copy of the checkpoint may be from before the topic was made again.
        (LAST, _batch(4, (0, 0, 50), topic_id="zero"), "or is an older copy. Restore its newest copy"),
        (LAST, _batch(0, (0, 0, 10)), "source.start: {t: {0: 100, 1: 7}}"),
        (LAST, _batch(5, (0, 50, 101)), "q1-5 was written from other offsets"),
        (LAST, _batch(5, (0, 49, 100)), "q1-5 was written from other offsets"),
        (LAST, _batch(5, (0, 50, 100), (1, 7, 8)), "q1-5 was written from other offsets"),
        (LAST, _batch(5), "q1-5 was written from other offsets"),
        (LAST, _batch(6, (0, 99, 101)), "q1-6 begins at offset 99 of t partition 0"),
        (LAST, _batch(6, (0, 100, 101), (1, 6, 8)), "q1-6 begins at offset 6 of t partition 1"),
        (LAST, _batch(6, (0, 101, 102)), "offsets 100 to 100 are in no batch"),
        (LAST, _batch(6, (0, 100, 101), topic_id="two"), "topic t was deleted and made again"),
        (LAST, _batch(5, (0, 50, 100), topic_id="two"), "topic t was deleted and made again"),
        # A Delta table that has deleted the commit knows the number only.
        (Marker(5, 0), _batch(5, (0, 1, 2)), True),
        (Marker(5, 0), _batch_of_input(5, "a"), True),
        (Marker(5, 0), _batch(6, (0, 1, 2)), False),
        (Marker(5, 0), _batch(4, (0, 1, 2)), "new checkpoint behind the target's last row"),
        (LAST, _batch(7, (0, 120, 130)), "offsets 100 to 119 are in no batch"),
        (LAST_INPUT, _batch_of_input(5, "a"), True),
        (LAST_INPUT, _batch_of_input(6, "b"), False),
        (
            LAST_INPUT,
            _batch_of_input(5, "b"),
            "q1-5 was written from other input: the checkpoint was changed, or is an",
        ),
        (LAST_INPUT, _batch_of_input(4, "a"), "new checkpoint, and a source of only the rows that the target does not"),
    ],
)
def test_only_the_last_batch_repeats_and_the_next_begins_at_its_end(
    marker: Marker | None, batch: BatchIdentity, expected: bool | str
) -> None:
    if isinstance(expected, bool):
        assert is_written(marker, batch, "table t") is expected
        return
    with pytest.raises(SinkRefused, match=re.escape(expected)):
        is_written(marker, batch, "table t")


@pytest.mark.parametrize("last", [LAST, replace(LAST, topic_ids={})], ids=["ids", "no ids"])
def test_the_marker_of_a_recreated_topic_has_only_its_new_end_offsets(last: Marker) -> None:
    again = replace(_batch(6, (0, 0, 20), topic_id="two"), former_topic_ids={"t": ("one",)})
    assert is_written(last, again, "t") is False
    marker = marker_of(again, last, written=20)
    assert (marker.ends, marker.topic_ids) == ({("t", 0): 20}, {"t": "two"})
    following = replace(_batch(7, (0, 15, 30), topic_id="two"), former_topic_ids={"t": ("one",)})
    with pytest.raises(SinkRefused, match="q1-7 begins at offset 15"):
        is_written(marker, following, "t")


def test_a_marker_keeps_the_ids_and_ends_of_topics_that_a_batch_does_not_have() -> None:
    marker = marker_of(_batch(6, (0, 100, 101), topic_id=None), LAST, written=1)
    assert (marker.ends, marker.topic_ids) == ({("t", 0): 101, ("t", 1): 7}, {"t": "one"})


def test_adopt_leaves_offsets_out_and_repeats_none() -> None:
    assert is_written(LAST, _batch(6, (0, 101, 102)), "t", adopt=True) is False
    with pytest.raises(SinkRefused, match="begins at offset 99"):
        is_written(LAST, _batch(6, (0, 99, 102)), "t", adopt=True)


def test_a_marker_is_read_as_it_was_written() -> None:
    assert read_marker(LAST.text(), "place") == LAST
    assert read_marker(LAST_INPUT.text(), "place") == LAST_INPUT
    result = LAST.result()
    assert (result.written, result.refused, result.repeated) == (40, 10, True)
    with pytest.raises(SinkRefused, match=r"place: the marker cannot be read: '\{\}'"):
        read_marker("{}", "place")


def test_the_key_has_query_writer_and_sink() -> None:
    assert str(MarkerKey("q1", "flights", 2)) == "q1/2/flights"
    assert str(MarkerKey("q1")) == "q1/0"
