from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from magicbyte.kit.settings.compound import ListOf
from magicbyte.kit.settings.kinds import Reading
from magicbyte.kit.settings.nodes import BROKEN
from spark_avro.pipeline.file.nodes import read_documents
from spark_avro.pipeline.file.place import PipelineError
from spark_avro.pipeline.file.source import FilesSource, Table
from spark_avro.pipeline.file.steps import DEFAULT_REFRESH, STEP
from spark_avro.pipeline.sources.position import position
from spark_avro.pipeline.steps.joined_tables import Tables
from spark_avro.pipeline.steps.step import StepContext
from spark_avro.pipeline.steps.step_table import apply_steps


def steps(text: str) -> Any:
    reading = Reading()
    [node] = read_documents(text, "f.yaml")
    value = ListOf(STEP).read(node, reading, "steps")
    assert value is not BROKEN, reading.findings
    return value


def run(rows: DataFrame, text: str, tables: Mapping[str, Table] | None = None) -> list[dict[str, Any]]:
    specs = tables or {}
    opened = Tables(rows.sparkSession, specs, dict.fromkeys(specs, DEFAULT_REFRESH))
    result = apply_steps(rows, steps(text), StepContext(opened))
    return [row.asDict(recursive=True) for row in result.drop("_kafka").collect()]


@pytest.fixture(scope="module")
def flights(spark: SparkSession) -> DataFrame:
    data = [
        Row(
            id=1,
            carrier="UA",
            passenger=Row(email="ann@example.org", name="Ann"),
            legs=[Row(gate="A1", minutes=10), Row(gate="A2", minutes=20)],
            **{"odd.name": "x"},
        ),
        Row(id=2, carrier=None, passenger=None, legs=[], **{"odd.name": None}),
    ]
    rows = spark.createDataFrame(
        data,
        "id int, carrier string, passenger struct<email: string, name: string>,"
        " legs array<struct<gate: string, minutes: int>>, `odd.name` string",
    )
    place = {"topic": F.lit("flights"), "partition": F.lit(0), "offset": F.col("id"), "key": F.col("carrier")}
    return rows.select("*", position(place)).persist()


def test_fields_at_paths_through_structs_and_arrays(flights: DataFrame) -> None:
    text = """
- cast: {id: long, legs.minutes: string}
- rename: {passenger.name: full, carrier: airline}
- drop: [legs.gate, "`odd.name`"]
"""
    assert run(flights, text) == [
        {
            "id": 1,
            "airline": "UA",
            "passenger": {"email": "ann@example.org", "full": "Ann"},
            "legs": [{"minutes": "10"}, {"minutes": "20"}],
        },
        {"id": 2, "airline": None, "passenger": None, "legs": []},
    ]


def test_all_columns_and_more_are_selected_with_one_position(flights: DataFrame) -> None:
    text = """
- drop: [passenger, legs, "`odd.name`"]
- select: ["*", _kafka.offset as o]
- select: ["*", _kafka.key as k]
"""
    assert run(flights, text) == [
        {"id": 1, "carrier": "UA", "o": 1, "k": b"UA"},
        {"id": 2, "carrier": None, "o": 2, "k": None},
    ]


def test_flatten_and_explode(flights: DataFrame) -> None:
    assert run(flights, "[{flatten: {paths: passenger}}, {select: [id, passenger_email, passenger_name]}]") == [
        {"id": 1, "passenger_email": "ann@example.org", "passenger_name": "Ann"},
        {"id": 2, "passenger_email": None, "passenger_name": None},
    ]
    assert run(flights, "[{explode: {path: legs, as: leg}}, {select: [id, leg.gate]}]") == [
        {"id": 1, "gate": "A1"},
        {"id": 1, "gate": "A2"},
    ]
    assert len(run(flights, "[{explode: {path: legs, empty: keep}}]")) == 3


def test_masks(flights: DataFrame) -> None:
    text = """
- mask:
    passenger.email: hmac:key
    passenger.name: null
    carrier: sha256
    legs.gate: keep-last-1
    "`odd.name`": /x/y/
"""
    first, second = run(flights, text)
    assert first["passenger"] == {
        "email": hmac.new(b"key", b"ann@example.org", hashlib.sha256).hexdigest(),
        "name": None,
    }
    assert first["carrier"] == hashlib.sha256(b"UA").hexdigest()
    assert [leg["gate"] for leg in first["legs"]] == ["*1", "*2"]
    assert first["odd.name"] == "y/"
    assert (second["carrier"], second["passenger"], second["odd.name"]) == (None, None, None)


_TYPES = (
    "s string, b boolean, i int, t tinyint, d decimal(5,2), f double, day date, at timestamp, ntz timestamp_ntz,"
    " list array<int>, map map<string, int>, inner struct<items: array<struct<name: string>>>"
)


def test_masks_by_the_zero_of_a_type_and_by_a_fixed_value(spark: SparkSession) -> None:
    row = "'x', true, 7, 7, 7.5, 7.5, date'2026-01-01', timestamp'2026-01-01', timestamp_ntz'2026-01-01', array(1),"
    row += " map('k', 1), named_struct('items', array(named_struct('name', 'x'), named_struct('name', null)))"
    names = [name for name in _kinds() if name != "inner"]
    nulls = ", ".join(["null"] * 12)
    rows = (
        spark.sql(f"select {row} union all select {nulls}")
        .toDF(*names, "inner")
        .select(*(F.col(name).cast(kind).alias(name) for name, kind in _kinds().items()), position({}))
    )
    first, second = run(rows, "- mask: {" + ", ".join(f"{name}: zero" for name in (*names, "inner.items.name")) + "}")
    at = first.pop("at")
    assert at.timestamp() == 0
    assert first == {
        "s": "",
        "b": False,
        "i": 0,
        "t": 0,
        "d": Decimal("0.00"),
        "f": 0.0,
        "day": date(1970, 1, 1),
        "ntz": datetime(1970, 1, 1),  # noqa: DTZ001 - it has no zone
        "list": [],
        "map": {},
        "inner": {"items": [{"name": ""}, {"name": None}]},
    }
    assert set(second.values()) == {None}
    first, second = run(
        rows.select("s", "i", "d", "_kafka"), "- mask: {s: 'fixed:$1 **', i: 'fixed:-1', d: 'fixed:1.5'}"
    )
    assert first == {"s": "$1 **", "i": -1, "d": Decimal("1.50")}
    assert set(second.values()) == {None}


def _kinds() -> dict[str, str]:
    return dict(item.split(" ", 1) for item in re.split(r", (?=\w+ \w)", _TYPES))


def test_sql_over_this_and_tables(flights: DataFrame, tmp_path: Path) -> None:
    folder = str(tmp_path / "names")
    flights.sparkSession.createDataFrame([("UA", "United")], "carrier string, airline string").write.parquet(folder)
    tables = {"names": FilesSource(path=folder)}
    text = """
- sql: |
    select id, upper(names.airline) as airline, this._kafka
    from this left join names using (carrier)
- where: airline is not null
"""
    assert run(flights, text, tables=tables) == [{"id": 1, "airline": "UNITED"}]
    joined = "[{join: {table: names, on: [carrier]}}, {select: [id, airline]}]"
    assert run(flights, joined, tables=tables) == [{"id": 1, "airline": "United"}]
    joined = "[{join: {table: names, on: this.carrier = names.carrier, how: left}}, {select: [id, airline]}]"
    assert run(flights, joined, tables=tables) == [{"id": 1, "airline": "United"}, {"id": 2, "airline": None}]


def test_keys_headers_and_samples(flights: DataFrame) -> None:
    text = "[{key: [id, carrier]}, {headers: {source: _kafka.topic}}, {select: [id]}]"
    assert run(flights, text)[0] == {
        "id": 1,
        "_key": {"id": 1, "carrier": "UA"},
        "_headers": [{"key": "source", "value": bytearray(b"flights")}],
    }
    many = flights.sparkSession.range(10_000).select("id", position({"key": (F.col("id") % 100).cast("string")}))
    kept = run(many, "[{sample: {keys: 0.2}}]")
    keys = {row["id"] % 100 for row in kept}
    assert 5 < len(keys) < 40
    assert len(kept) == 100 * len(keys)


def test_debezium_events(spark: SparkSession) -> None:
    row = "struct<id: int, name: string>"
    events = spark.createDataFrame(
        [("c", None, (1, "a")), ("d", (1, "a"), None), (None, None, None)], f"op string, before {row}, after {row}"
    ).select("*", position({}))
    assert run(events, "[{unwrap: debezium}]") == [
        {"id": 1, "name": "a", "_op": "u"},
        {"id": 1, "name": "a", "_op": "d"},
    ]


def _timed(spark: SparkSession, *rows: tuple[str, int]) -> DataFrame:
    data = [(key, minute, offset) for offset, (key, minute) in enumerate(rows)]
    frame = spark.createDataFrame(data, "carrier string, minute long, offset long")
    at = F.timestamp_seconds(F.col("minute") * 60)
    place = {"topic": F.lit("t"), "partition": F.lit(0), "offset": F.col("offset"), "timestamp": at}
    return frame.select("carrier", at.alias("at"), position(place))


def test_a_batch_keeps_a_key_again_after_the_time_since_the_row_that_it_kept(spark: SparkSession) -> None:
    rows = _timed(spark, ("UA", 61), ("UA", 0), ("UA", 60), ("B6", 2), ("UA", 121), ("UA", 122)).withColumn(
        "map", F.create_map(F.lit("a"), F.lit(1))
    )
    text = "[{deduplicate: {by: carrier, time: at, within: 1h}}, {select: [carrier, unix_seconds(at) / 60 as at, map]}]"
    kept = [(row["carrier"], row["at"]) for row in run(rows, text)]
    assert sorted(kept) == [("B6", 2), ("UA", 0), ("UA", 61), ("UA", 122)]


def test_a_batch_has_all_windows_also_of_windows(spark: SparkSession) -> None:
    text = """
- window: {time: at, size: 10m, late: 5m, group: carrier, aggregate: count(*) as flights}
- window: {time: window_end, size: 1h, aggregate: [sum(flights) as flights, count(*) as windows]}
- select: [unix_timestamp(window_start) / 60 as start, flights, windows]
"""
    rows = _timed(spark, ("UA", 1), ("UA", 2), ("B6", 59), ("UA", 12), ("UA", 60))
    assert sorted((row["start"], row["flights"], row["windows"]) for row in run(rows, text)) == [(0, 4, 3), (60, 1, 1)]


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        (
            "- cast: {passenger.mail: int}",
            "f.yaml:1:10: steps[0].cast: there is no field mail in passenger; did you mean email?",
        ),
        ("- drop: [carier]", "f.yaml:1:10: steps[0].drop[0]: there is no field carier; did you mean carrier?"),
        ("- where: dealy > 5", "f.yaml:1:10: steps[0].where: there is no column dealy"),
        (
            "- where: id > 1 and carier = 'UA'",
            "f.yaml:1:21: steps[0].where: there is no column carier; did you mean carrier?",
        ),
        (
            "- select: [id, 'upper(carier) as c']",
            "f.yaml:1:23: steps[0].select[1]: there is no column carier; did you mean carrier?",
        ),
        ("- where: id >> > 1", "f.yaml:1:16: steps[0].where: Syntax error at or near '>'"),
        (
            "- mask: {id: 'fixed:x'}",
            "f.yaml:1:10: steps[0].mask: id is int; fixed is for texts, and for numbers if its text is one of the type,"
            " so use null",
        ),
        (
            "- mask: {id: 'fixed:3000000000'}",
            "f.yaml:1:10: steps[0].mask: id is int; fixed is for texts, and for numbers if its text is one of the type,"
            " so use null",
        ),
        ("- mask: {id: sha256}", "f.yaml:1:10: steps[0].mask: id is int; sha256 is for texts, so use null"),
        ("- explode: carrier", "f.yaml:1:12: steps[0].explode: carrier is no array"),
        (
            "- python: no.such:thing",
            "f.yaml:1:11: steps[0].python: no.such:thing cannot be imported: No module named 'no'",
        ),
        (
            "- unwrap: debezium",
            "f.yaml:1:11: steps[0].unwrap: the rows have no before and no after and no op, so they are no",
        ),
    ],
)
def test_the_error_for_unfit_columns_names_the_place(flights: DataFrame, text: str, finding: str) -> None:
    with pytest.raises(PipelineError) as error:
        run(flights, text)
    assert str(error.value).startswith(finding)
