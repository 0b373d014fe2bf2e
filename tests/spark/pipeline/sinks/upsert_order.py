"""Records of one key, and which of them is the newest: the same for all tables with upserts."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from spark_avro.pipeline.ports import BatchIdentity


@dataclass(frozen=True)
class Record:
    """A record: its place, its timestamp in seconds, and its value."""

    topic: str
    partition: int
    offset: int
    second: int
    v: str


#: Name -> the records of each batch, and the value that is left.
CASES: dict[str, tuple[list[list[Record]], str]] = {
    "a partition was added": ([[Record("f", 0, 100, 10, "old")], [Record("f", 1, 3, 20, "new")]], "new"),
    "in one batch": ([[Record("f", 0, 100, 10, "old"), Record("f", 1, 3, 20, "new")]], "new"),
    "the old partition is read last": ([[Record("f", 1, 3, 20, "new")], [Record("f", 0, 100, 10, "old")]], "new"),
    "two topics": ([[Record("f", 0, 100, 10, "old")], [Record("g", 0, 1, 20, "new")]], "new"),
    "a partition has no order but its offsets": (
        [[Record("f", 0, 5, 20, "old"), Record("f", 0, 6, 10, "new")]],
        "new",
    ),
    "and between batches": ([[Record("f", 0, 5, 20, "old")], [Record("f", 0, 6, 10, "new")]], "new"),
    "read again": ([[Record("f", 0, 6, 10, "new")], [Record("f", 0, 5, 20, "old")]], "new"),
    "the same time": ([[Record("f", 1, 1, 10, "new")], [Record("f", 0, 5, 10, "old")]], "new"),
    "timestamps run backwards": (
        [[Record("f", 0, 5, 20, "old")], [Record("f", 0, 6, 10, "new"), Record("f", 1, 1, 15, "other")]],
        "new",
    ),
    "and another partition comes later": (
        [[Record("f", 0, 5, 20, "old")], [Record("f", 0, 6, 10, "new")], [Record("f", 1, 1, 15, "other")]],
        "new",
    ),
    "or first": (
        [[Record("f", 1, 1, 15, "other")], [Record("f", 0, 5, 20, "old")], [Record("f", 0, 6, 10, "new")]],
        "new",
    ),
    "or all are in one batch": (
        [[Record("f", 0, 5, 20, "old"), Record("f", 0, 6, 10, "new"), Record("f", 1, 1, 15, "other")]],
        "new",
    ),
    "10 comes after 9": ([[Record("f", 9, 5, 10, "old"), Record("f", 10, 1, 10, "new")]], "new"),
}
#: A topic that was deleted and made again begins at offset 0.
REPLACED = [[Record("f", 0, 100, 10, "old")], [Record("f", 0, 0, 20, "new")]]

#: Batches in which an older record of a key comes after the one that deleted it, and what is left of keys 1, 2 and 3.
DELETED = [
    [(1, Record("f", 0, 100, 10, "old")), (2, Record("f", 0, 101, 10, "kept"))],
    [(1, Record("f", 1, 3, 30, "d")), (3, Record("f", 1, 4, 30, "d"))],
    [(1, Record("f", 0, 102, 20, "late")), (3, Record("f", 0, 103, 20, "late")), (2, Record("f", 0, 104, 20, "new"))],
    [(3, Record("f", 1, 5, 40, "again"))],
    [(3, Record("f", 0, 105, 35, "late")), (1, Record("g", 0, 0, 25, "late"))],
    # An older deletion does not delete, and is no newer deletion.
    [(3, Record("f", 0, 106, 36, "d")), (2, Record("f", 1, 6, 15, "d")), (1, Record("g", 0, 1, 26, "d"))],
    [(1, Record("f", 0, 107, 29, "late"))],
]
LEFT = [(2, "new"), (3, "again")]

#: A deletion with an earlier timestamp than the record before it; what is left of keys 1 and 2.
DELETED_BACKWARDS = [
    [(1, Record("f", 0, 5, 20, "old")), (2, Record("f", 0, 6, 20, "old"))],
    [(1, Record("f", 0, 7, 10, "d")), (2, Record("f", 0, 8, 10, "d"))],
    [(1, Record("f", 1, 1, 15, "older")), (2, Record("f", 1, 2, 21, "newer"))],
    # The deletion's partition goes on, again with an earlier timestamp.
    [(1, Record("f", 0, 9, 5, "again")), (1, Record("f", 1, 3, 16, "older"))],
]
LEFT_BACKWARDS = [(1, "again"), (2, "newer")]

NAMES = list(CASES)


def rounds() -> list[list[tuple[int, Record]]]:
    """Three batches with the records of all cases; the key is the number of the case."""
    return [
        [(key, record) for key, name in enumerate(NAMES) for record in (CASES[name][0][number : number + 1] or [[]])[0]]
        for number in range(3)
    ]


def winners() -> list[tuple[int, str]]:
    return [(key, CASES[name][1]) for key, name in enumerate(NAMES)]


def rows_of(spark: SparkSession, records: list[tuple[int, Record]]) -> DataFrame:
    columns = "id int, v string, topic string, partition int, offset bigint, second int"
    data = [(key, one.v, one.topic, one.partition, one.offset, one.second) for key, one in records]
    place = (
        "named_struct('topic', topic, 'partition', partition, 'offset', offset, 'timestamp', timestamp_seconds(second),"
        " 'headers', cast(null as array<struct<key: string, value: binary>>), 'key', cast(null as binary),"
        " 'schema_id', 7) as _kafka"
    )
    return spark.createDataFrame(data, columns).selectExpr("id", "v", place)


def batch_of(number: int, *, replaced: bool = False) -> BatchIdentity:
    return BatchIdentity("flights", "q1", number, former_topic_ids={"f": ("before",)} if replaced and number else {})
