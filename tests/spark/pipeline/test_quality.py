"""Checks of rows: tagged, counted in one pass, and divided into passed, dropped and dead ones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.pipeline.file.field_path import FieldPath
from spark_avro.pipeline.file.place import PipelineError
from spark_avro.pipeline.file.policies import Check, Fresh, SchemaOnly, Unique, Volume
from spark_avro.pipeline.file.sql_text import Sql
from spark_avro.pipeline.ports import FAILED, BatchIdentity, Verdict
from spark_avro.pipeline.quality.gate import QualityGate
from spark_avro.pipeline.quality.volume import VolumeCount

BATCH = BatchIdentity("flights", "1f3a", 3)
NOW = datetime.now(UTC)

#: id, carrier, delay, time, schema id.
ROWS = [
    (1, "UA", 5, NOW, 7),
    (2, "AA", 4000, NOW, 7),
    (3, "AA", None, NOW - timedelta(days=2), 7),
    (3, "ZZ", 10, NOW, 8),
    (None, None, -500, None, None),
]


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    columns = "id int, carrier string, delay int, at timestamp, schema_id int, offset bigint"
    plain = spark.createDataFrame([(*row, number) for number, row in enumerate(ROWS)], columns)
    position = F.struct(F.lit("flights").alias("topic"), F.lit(0).alias("partition"), "offset", "schema_id")
    return plain.withColumn("_kafka", position).drop("schema_id").persist()


def path(*parts: str) -> FieldPath:
    return FieldPath(parts)


def judged(gate: QualityGate, rows: DataFrame) -> tuple[DataFrame, Verdict]:
    tagged = gate.tag(rows)
    measures = [column.alias(name) for name, column in gate.measures().items()]
    return tagged, gate.judge(tagged.agg(*measures).collect()[0].asDict(), BATCH)


def offsets(rows: DataFrame) -> list[int]:
    return sorted(row["offset"] for row in rows.select("_kafka.offset").collect())


@pytest.mark.parametrize(
    ("kind", "failing"),
    [
        ({"expect": Sql("delay between -120 and 3000")}, [1, 2, 4]),
        ({"expect": Sql("length(carrier)")}, [4]),
        ({"not_null": (path("id"), path("delay"))}, [2, 4]),
        ({"unique": Unique(key=(path("id"),))}, [3, 4]),
        ({"values": {path("carrier"): ("UA", "AA")}}, [3, 4]),
        ({"range": {path("delay"): (0, 100)}}, [1, 2, 4]),
        ({"fresh": Fresh(time=path("at"), within=timedelta(hours=1))}, [2, 4]),
        ({"schema_only": SchemaOnly(ids=(7,))}, [3, 4]),
    ],
)
def test_the_rows_that_fail_each_kind_of_check(rows: DataFrame, kind: dict[str, Any], failing: list[int]) -> None:
    gate = QualityGate((Check(name="the check", otherwise="dead-letter", **kind),))
    tagged, verdict = judged(gate, rows)
    assert offsets(gate.dead(tagged)) == failing
    assert offsets(gate.passed(tagged)) == [number for number in range(5) if number not in failing]
    assert verdict == Verdict(passed=5 - len(failing), dead=len(failing), failed={"the check": len(failing)})
    assert FAILED not in gate.passed(tagged).columns


CHECKS = (
    Check(name="delay", expect=Sql("delay between -120 and 3000"), otherwise="dead-letter", by=(path("carrier"),)),
    Check(name="key", not_null=(path("id"),), otherwise="drop"),
    Check(name="carrier", values={path("carrier"): ("UA", "AA")}, otherwise="warn"),
)


def test_several_checks_in_one_pass(rows: DataFrame, caplog: pytest.LogCaptureFixture) -> None:
    gate = QualityGate(CHECKS)
    tagged, verdict = judged(gate, rows)
    assert {row["offset"]: row[FAILED] for row in tagged.select("_kafka.offset", FAILED).collect()} == {
        0: [], 1: ["delay"], 2: ["delay"], 3: ["carrier"], 4: ["delay", "key", "carrier"],
    }  # fmt: skip
    assert offsets(gate.dead(tagged)) == [1, 2, 4]
    # Rows of a check that warns are told apart.
    assert {row["offset"]: row[FAILED] for row in gate.passed(tagged).select("_kafka.offset", FAILED).collect()} == {
        0: [], 3: ["carrier"],
    }  # fmt: skip
    assert verdict == Verdict(passed=2, dropped=0, dead=3, failed={"delay": 3, "key": 1, "carrier": 2})
    assert caplog.messages == ["batch 3, check 'delay' failed by carrier=AA: 2, carrier=NULL: 1"]


def test_dropped_rows_are_counted_apart_from_dead_ones(rows: DataFrame) -> None:
    gate = QualityGate((Check(name="delay", range={path("delay"): (0, 4000)}, otherwise="drop"),))
    tagged, verdict = judged(gate, rows)
    assert (verdict.passed, verdict.dropped, verdict.dead) == (3, 2, 0)
    assert offsets(gate.passed(tagged)) == [0, 1, 3]


def test_a_check_that_fails_the_batch_and_one_over_its_share(rows: DataFrame) -> None:
    one = Check(name="delay", expect=Sql("delay < 1000"), otherwise="fail")
    _, verdict = judged(QualityGate((one,)), rows)
    assert verdict.stop == "check 'delay' failed for 2 of 5 rows, for example flights 0:1"
    few = Check(name="delay", expect=Sql("delay < 1000"), otherwise="warn", at_most=0.5)
    assert judged(QualityGate((few,)), rows)[1].finding is None
    many = Check(name="delay", expect=Sql("delay < 1000"), otherwise="drop", at_most=0.2)
    _, verdict = judged(QualityGate((many,)), rows)
    assert (verdict.stop, verdict.dropped) == (None, 2)
    assert verdict.finding == ("check 'delay' failed for 2 of 5 rows, for example flights 0:1, at most 0.2 of them may")


def test_no_checks_and_no_rows(rows: DataFrame) -> None:
    assert judged(QualityGate(()), rows)[1] == Verdict(passed=5)
    gate = QualityGate((*CHECKS, Check(name="volume", volume=Volume(per="batch", between=(0, 10)))))
    assert judged(gate, rows.limit(0))[1] == Verdict(passed=0)


def test_the_volume_of_batches_and_hours(rows: DataFrame) -> None:
    check = Check(name="volume", volume=Volume(per="batch", between=(6, 10)), otherwise="fail")
    _, verdict = judged(QualityGate((check,)), rows)
    assert verdict.stop == "check 'volume' failed: 5 rows in a batch, expected 6 to 10"
    few = Check(name="volume", volume=Volume(per="batch", between=(6, 10)))
    assert judged(QualityGate((few,)), rows)[1].finding is not None
    now = [0.0]
    count = VolumeCount(Volume(per="hour", between=(10, 100)), clock=lambda: now[0])
    assert count.problem(1) is None
    assert count.problem(101) == "102 rows in the last hour, expected 0 to 100"
    now[0] = 3599
    assert count.problem(4) == "106 rows in the last hour, expected 0 to 100"
    now[0] = 3600
    assert count.problem(5) == "9 rows in the last hour, expected 10 to 100"


def test_a_key_of_an_earlier_batch_is_no_longer_unique(rows: DataFrame) -> None:
    unique = Unique(key=(path("id"),), within=timedelta(hours=1))
    gate = QualityGate((Check(name="the key", unique=unique, otherwise="dead-letter"),))
    late = rows.where("id > 1")
    # Of the keys 2 and 3, no earlier batch had 3.
    new = rows.where("id = 3").selectExpr("named_struct('key0', id) as key").distinct()
    # Offset 1 has a key of an earlier batch, 3 the key of 2.
    assert offsets(gate.dead(gate.tag(late, {0: new}))) == [1, 3]
    everything = rows.selectExpr("named_struct('key0', id) as key").distinct()
    assert offsets(gate.dead(gate.tag(rows.where("id < 3"), {0: everything}))) == []


def test_a_check_that_does_not_fit_the_columns_names_the_field(rows: DataFrame) -> None:
    for check in (
        Check(name="a", not_null=(path("delayy"),)),
        Check(name="a", expect=Sql("delayy > 0")),
        Check(name="a", expect=Sql("delay > 0"), by=(path("delayy"),)),
    ):
        with pytest.raises(PipelineError, match="delayy"):
            QualityGate((check,)).tag(rows)
