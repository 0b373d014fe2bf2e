from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.plan.frames import Message
from spark_avro.plan.parts import Decoded
from spark_avro.streams.decoder import Decoder


@dataclass(frozen=True)
class LongPlan:
    """Texts as longs; other texts are broken. Notes how often its columns are made."""

    reason: str
    made: list[str] = field(default_factory=list, compare=False)
    ids: tuple[int, ...] = ()
    unreadable: Mapping[int, str] = field(default_factory=dict)

    def parts(self, message: Message) -> Decoded:
        self.made.append(self.reason)
        text = message.payload.cast("string")
        value = F.when(text.rlike("^[0-9]+$"), text.cast("long"))
        return Decoded(value, value.isNotNull(), F.lit(self.reason), F.lit(None).cast("long"))


@dataclass
class Plans:
    plan: LongPlan
    versions: Mapping[int, int] = field(default_factory=dict)

    def refresh(self) -> LongPlan:
        return self.plan

    read = refresh


def test_columns_are_made_again_only_when_a_plan_changes(spark: SparkSession) -> None:
    made: list[str] = []
    source = Plans(LongPlan("not a long", made))
    decoder = Decoder({"value": source})
    for value in (b"1", b"x"):
        batch = spark.createDataFrame([(7, bytearray(value))], "offset int, value binary")
        [row] = decoder.rows(batch).collect()
        decoder.measures(batch)
        # A follower makes a new plan of the same versions for each batch.
        source.plan = replace(source.plan)
    assert (row.offset, row.decoded, row.error.reason, row.error_column) == (7, None, "not a long", "value")
    assert made == ["not a long"]
    source.plan = LongPlan("no number", made)
    assert decoder.rows(batch).first().error.reason == "no number"
    assert made == ["not a long", "no number"]
    other = spark.createDataFrame([(bytearray(b"5"), "a")], "value binary, topic string")
    [row] = decoder.rows(other).collect()
    assert (row.topic, row.decoded, row.error) == ("a", 5, None)


def test_two_columns_share_an_error_and_only_some_columns_are_kept(spark: SparkSession) -> None:
    plans: dict[str, Any] = {"value": Plans(LongPlan("value")), "key": Plans(LongPlan("key"))}
    decoder = Decoder(plans, kept=("offset",), further=lambda: {"last": F.max("offset")})
    kinds = "offset int, key binary, value binary, headers array<struct<key:string,value:binary>>"
    texts = [(b"1", b"2"), (b"1", b"x"), (b"x", b"2"), (b"x", b"x")]
    batch = spark.createDataFrame([(n, *map(bytearray, pair), None) for n, pair in enumerate(texts)], kinds)
    rows = decoder.rows(batch)
    assert sorted(rows.columns) == ["decoded", "decoded_key", "error", "error_column", "offset"]
    got = [(row.decoded, row.decoded_key, row.error and row.error.reason, row.error_column) for row in rows.collect()]
    assert got == [
        (2, 1, None, None),
        (None, 1, "value", "value"),
        (2, None, "key", "key"),
        (None, None, "value", "value"),
    ]
    [measured] = rows.agg(*decoder.measures(batch)).collect()
    assert measured.asDict() == {"all_": 4, "dead_": 3, "unknown_": [], "last": 3}
