"""The newer of two rows of a key, by their records' places in Kafka; the same rule for Spark, PostgreSQL and SQLite.

Offsets order the records of one partition of one topic. A key changes its partition when partitions are added, and it
may be in several topics. So records of different partitions go by (timestamp, topic, partition). Timestamps do not
order the records of a partition: producers set them, and may set them in any order.
"""

# ruff: noqa: S608  # names come quoted, and topics have only letters, digits, dots, dashes and underscores
from __future__ import annotations

from collections.abc import Callable, Collection

#: The rule as `explain` tells it.
BY_PLACE = (
    "of a key's rows the one with the greater offset is newer; rows of different partitions or topics go by timestamp,"
    " topic and partition"
)

#: What is added to the name of a table whose rows can delete keys, for the table that keeps the deleted keys.
DELETED_KEYS = "_deleted_keys"
#: How deletions are kept, as `explain` tells it.
DELETED_STAY = f"deleted keys are kept in a table TABLE{DELETED_KEYS}, so that no older record brings them back"

#: From a field of `_kafka` to the SQL of its column.
FieldName = Callable[[str], str]

#: The order of the newest records of all partitions.
ACROSS_PARTITIONS = ("timestamp", "topic", "partition")
#: All fields that the order needs.
ORDER_FIELDS = ("topic", "partition", "offset", "timestamp")


def newest_query(rows: str, key: str, field: FieldName) -> str:
    """The query of the newest row of each key: of the newest rows of each partition, the one with the last timestamp.

    Args:
        rows: The table or view.
        key: The columns of the key, with commas.
        field: The columns of the rows' places.
    """
    of_partition = f"{key}, {field('topic')}, {field('partition')}"
    across = ", ".join(f"{field(name)} DESC" for name in ACROSS_PARTITIONS)
    return (
        f"SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY {key} ORDER BY {across}) AS newest_ FROM"
        f" (SELECT *, row_number() OVER (PARTITION BY {of_partition} ORDER BY {field('offset')} DESC) AS last_"
        f" FROM {rows}) AS placed_ WHERE last_ = 1) AS ranked_ WHERE newest_ = 1"
    )


def is_newer(new: FieldName, old: FieldName, replaced: Collection[str] = ()) -> str:
    """The condition that a new row takes the place of the old row of its key.

    A row that an earlier release wrote may have no place but its offset, which then decides.

    Args:
        new: The columns of the new row's place.
        old: The columns of the old row's place.
        replaced: Topics that were deleted and made again: their old rows may have the old topic's offsets.
    """
    same = f"{new('topic')} = {old('topic')} AND {new('partition')} = {old('partition')}"
    if replaced:
        same += f" AND {new('topic')} NOT IN ({', '.join(repr(topic) for topic in sorted(replaced))})"
    fields = (*ACROSS_PARTITIONS, "offset")
    whole = [f"({', '.join(place(name) for name in fields)})" for place in (new, old)]
    return (
        f"({old('offset')} IS NULL OR CASE WHEN {old('topic')} IS NULL OR ({same})"
        f" THEN {new('offset')} >= {old('offset')} ELSE {whole[0]} >= {whole[1]} END)"
    )
