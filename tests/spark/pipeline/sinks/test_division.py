"""The writer of the records of a source partition."""

from __future__ import annotations

import pytest

from spark_avro.pipeline.ports import SourceRange
from spark_avro.pipeline.sinks.kafka.division import shares


@pytest.mark.parametrize(
    ("sizes", "writers", "expected"),
    [
        ([5, 5, 5, 5], 2, [1, 2, 1, 2]),
        ([1, 9, 2, 3], 2, [2, 1, 2, 2]),
        ([4, 4], 5, [1, 2]),
        ([0, 0, 7], 1, [1, 1, 1]),
        ([], 3, []),
    ],
)
def test_the_source_partitions_of_a_writer(sizes: list[int], writers: int, expected: list[int]) -> None:
    ranges = [SourceRange("t", part, 100, 100 + size) for part, size in enumerate(sizes)]
    found = shares(ranges, writers)
    assert [found["t", part] for part in range(len(sizes))] == expected
    # The order in which a broker names partitions decides nothing.
    assert shares(ranges[::-1], writers) == found


def test_partitions_of_several_topics_have_writers_of_their_own() -> None:
    ranges = [SourceRange(topic, part, 0, 10) for topic in ("b", "a") for part in (1, 0)]
    assert shares(ranges, 4) == {("a", 0): 1, ("a", 1): 2, ("b", 0): 3, ("b", 1): 4}
