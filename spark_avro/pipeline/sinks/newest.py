"""The newer of two rows of a key, by their records' places in Kafka; the same rule for Spark, PostgreSQL and SQLite.

Offsets order the records of one partition of one topic. A key changes its partition when partitions are added, and it
may be in several topics. So records of different partitions go by (timestamp, topic, partition, offset). Producers set
timestamps, and may set them in any order. So the two rules would contradict each other if they compared the timestamps
of records: offset 6 of 10 h would be newer than offset 5 of 12 h, which is newer than a record of another partition of
11 h, which is newer than offset 6.

So the order is (clock, topic, partition, offset). A record's clock is the latest timestamp of its key's records in its
partition up to its offset. It never runs backwards in a partition, so there the offset decides, and the order is total.
A table keeps the clock in the place of the timestamp. That is enough state: a row that another one replaced has an
earlier clock, and so has each later record of its partition that needs it.
"""

# ruff: noqa: S608  # names come quoted, and topics have only letters, digits, dots, dashes and underscores
from __future__ import annotations

from collections.abc import Callable, Collection

#: The rule as `explain` tells it.
BY_PLACE = (
    "of a key's rows the one with the greater offset is newer; rows of different partitions or topics go by timestamp,"
    " topic and partition, with timestamps that never run backwards in a partition"
)

#: What is added to the name of a table whose rows can delete keys, for the table that keeps the deleted keys.
DELETED_KEYS = "_deleted_keys"
#: What is added to the name of a SQL table whose rows have no places, for the table with the places of its keys.
KEY_PLACES = "_key_places"
#: How deletions are kept, as `explain` tells it.
DELETED_STAY = f"deleted keys are kept in a table TABLE{DELETED_KEYS}, so that no older record brings them back"

#: From a field of `_kafka` to the SQL of its column.
FieldName = Callable[[str], str]

#: All fields that the order needs.
ORDER_FIELDS = ("topic", "partition", "offset", "timestamp")
#: The column of `last_query` and `newest_query` with a row's clock.
CLOCK = "clock_"


def last_query(rows: str, key: str, field: FieldName) -> str:
    """The query of the last row of each key in each partition, with its clock.

    Args:
        rows: The table or view.
        key: The columns of the key, with commas.
        field: The columns of the rows' places.
    """
    of_partition = f"PARTITION BY {key}, {field('topic')}, {field('partition')}"
    return (
        f"SELECT * FROM (SELECT *, row_number() OVER ({of_partition} ORDER BY {field('offset')} DESC) AS last_,"
        f" max({field('timestamp')}) OVER ({of_partition}) AS {CLOCK} FROM {rows}) AS placed_ WHERE last_ = 1"
    )


def newest_query(last: str, key: str, field: FieldName) -> str:
    """The query of the newest row of each key.

    Args:
        last: The table, view or query of `last_query`.
        key: The columns of the key, with commas.
        field: The columns of the rows' places.
    """
    order = f"{CLOCK} DESC, {field('topic')} DESC, {field('partition')} DESC"
    ranked = f"SELECT *, row_number() OVER (PARTITION BY {key} ORDER BY {order}) AS newest_ FROM {last} AS rows_"
    return f"SELECT * FROM ({ranked}) AS ranked_ WHERE newest_ = 1"


def is_newer(new: FieldName, old: FieldName, replaced: Collection[str] = ()) -> str:
    """The condition that a new row takes the place of the old row of its key; the timestamps are clocks.

    A row that another program wrote may have no place but its offset, which then decides.

    Args:
        new: The columns of the new row's place.
        old: The columns of the old row's place.
        replaced: Topics that were deleted and made again: their old rows may have the old topic's offsets.
    """
    fields = ("timestamp", "topic", "partition", "offset")
    whole = [f"({', '.join(place(name) for name in fields)})" for place in (new, old)]
    return (
        f"({old('offset')} IS NULL OR CASE WHEN {old('topic')} IS NULL OR ({_same_partition(new, old, replaced)})"
        f" THEN {new('offset')} >= {old('offset')} ELSE {whole[0]} >= {whole[1]} END)"
    )


def is_earlier_clock(new: FieldName, old: FieldName, replaced: Collection[str] = ()) -> str:
    """The condition that the clock of a new row is that of a row of its key and partition that it replaces.

    Args:
        new: The columns of the new row's place.
        old: The columns of the old row's place.
        replaced: As for `is_newer`.
    """
    return (
        f"{_same_partition(new, old, replaced)} AND {new('offset')} >= {old('offset')}"
        f" AND {new('timestamp')} < {old('timestamp')}"
    )


def _same_partition(new: FieldName, old: FieldName, replaced: Collection[str]) -> str:
    same = f"{new('topic')} = {old('topic')} AND {new('partition')} = {old('partition')}"
    if replaced:
        same += f" AND {new('topic')} NOT IN ({', '.join(repr(topic) for topic in sorted(replaced))})"
    return same
