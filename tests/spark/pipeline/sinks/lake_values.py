"""Values at the edges of their types in Delta and Iceberg, read by pyarrow.

test_lake_tables runs this file in a process of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

from spark_avro.pipeline.file.field_path import FieldPath
from spark_avro.pipeline.file.sinks import DeltaSink, IcebergSink
from spark_avro.pipeline.ports import BatchIdentity
from spark_avro.pipeline.sinks import open_sink
from tests.spark.pipeline.sinks.lake_session import lake_session
from tests.spark.pipeline.sinks.recorded_sink import RecordedSink
from tests.spark.pipeline.sinks.test_values import column, time

Rows = Callable[..., DataFrame]
Batch = Callable[..., BatchIdentity]

#: Microseconds of the years 1, 1582, 1754, 1883, 9999 and 294247, and of the years before.
TIMES = [
    -62135596800000000, -12219292800000001, -6816355200000000, -2717640000000001, 0, 253402300799999999,
    253402300800000000, 9223372036854775807, -62135596800000001,
]  # fmt: skip
#: The days of the years 1, 1582, 1754, 1883, 9999 and 294247, and of the year before 1.
DAYS = [-719162, -141428, -78893, -31455, 0, 2932896, 106751991, -719163]

#: Name -> SQL of values, and what pyarrow has; numbers for times, and the repr of floats.
CASES: dict[str, list[tuple[str, Any]]] = {
    "at": [(time(micros), micros) for micros in TIMES],
    "local": [(f"cast({time(micros)} as timestamp_ntz)", micros) for micros in TIMES],
    "day": [(f"date_from_unix_date({days})", days) for days in DAYS],
    "double": [
        ("double('NaN')", "nan"), ("double('-0.0')", "-0.0"), ("double('Infinity')", "inf"),
        ("double('-Infinity')", "-inf"), ("4.9E-324D", "5e-324"), ("cast(null as double)", "None"),
    ],
    "float": [("float('NaN')", "nan"), ("float('-0.0')", "-0.0"), ("float('-Infinity')", "-inf")],
    "digits": [
        ("cast('-99999999999999999999999999999999999999' as decimal(38,0))", "-99999999999999999999999999999999999999"),
        ("cast('1' as decimal(38,0))", "1"),
    ],
    "fraction": [("cast('-0.999999999999999999' as decimal(18,18))", "-0.999999999999999999")],
    "money": [("cast('-99.99' as decimal(4,2))", "-99.99")],
    "long": [("9223372036854775807L", 2**63 - 1), ("-9223372036854775807L - 1L", -(2**63))],
    "int": [("2147483647", 2**31 - 1), ("-2147483647 - 1", -(2**31))],
    "flag": [("true", True), ("false", False), ("cast(null as boolean)", None)],
    "text": [("''", ""), ("'a\\u0000b'", "a\0b"), ("'\\uFFFD'", "\ufffd"), ("cast(null as string)", None)],
    "bytes": [("cast('' as binary)", b""), ("unhex('00FF')", b"\0\xff"), ("cast(null as binary)", None)],
    "struct": [
        ("named_struct('a', cast(null as int), 'b', cast(null as string))", {"a": None, "b": None}),
        ("cast(null as struct<a: int, b: string>)", None),
    ],
    "list": [
        ("array(named_struct('a', cast(null as int)), null)", [{"a": None}, None]),
        ("cast(array() as array<struct<a: int>>)", []),
    ],
    "map": [("map('a', cast(null as double), '', -0.0D)", [("a", None), ("", -0.0)]), ("map_from_arrays(cast(array() as"
        " array<string>), cast(array() as array<double>))", [])],
    # A duration, a time of day and a UUID of Avro.
    "duration": [("unhex('FFFFFFFF01000000FFFFFFFF')", b"\xff\xff\xff\xff\1\0\0\0\xff\xff\xff\xff")],
    "time": [("86399999999L", 86399999999)],
    "uuid": [("'00000000-0000-0000-0000-000000000000'", "00000000-0000-0000-0000-000000000000")],
}  # fmt: skip


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    with lake_session(tmp_path_factory.mktemp("warehouse")) as session:
        yield session


def lake_sink(kind: str, folder: Path, name: str, context: Any, **spec: Any) -> Any:
    if kind == "delta":
        return RecordedSink(open_sink(DeltaSink(path=f"{folder}/{name}", **spec), context()))
    catalog = {"type": "hadoop", "warehouse": str(folder)}
    table = f"{folder.name.replace('-', '_')}.db.{name}"
    return RecordedSink(open_sink(IcebergSink(table=table, catalog=catalog, **spec), context()))


def stored(folder: Path, name: str) -> dict[int, Any]:
    """The values of the files of a table that was written once."""
    files = [file for file in folder.rglob("*.parquet") if f"/{name}/" in str(file) and "_delta_log" not in str(file)]
    values: dict[int, Any] = {}
    for file in files:
        table = pq.ParquetFile(file).read()
        found = table["v"]
        if pa.types.is_timestamp(found.type):
            assert found.type.unit == "us"
            found = found.cast(pa.int64())
        elif pa.types.is_date32(found.type):
            found = found.cast(pa.int32())
        values |= dict(zip(table["n"].to_pylist(), found.to_pylist(), strict=True))
    return values


def shown(value: Any) -> Any:
    """A value in which -0.0 and 0.0 differ, and NaN is NaN."""
    if isinstance(value, list):
        return [shown(one) for one in value]
    if isinstance(value, tuple):
        return tuple(map(shown, value))
    return repr(value) if isinstance(value, float) else value


@pytest.mark.parametrize("kind", ["delta", "iceberg"])
def test_a_table_keeps_each_value(kind: str, tmp_path: Path, numbers: Rows, batch: Batch, context: Any) -> None:
    for name, cases in CASES.items():
        rows = numbers(0, len(cases), "n", column([case[0] for case in cases]))
        assert lake_sink(kind, tmp_path, f"t_{name}", context).write(rows, batch(0, 0, len(cases))).written == len(
            cases
        )
        found = {number: shown(value) for number, value in stored(tmp_path, f"t_{name}").items()}
        if name in ("double", "float", "digits", "fraction", "money"):
            found = {number: str(value) for number, value in found.items()}
        assert found == {number: shown(case[1]) for number, case in enumerate(cases)}, name


def test_a_time_whose_hour_iceberg_cannot_count_is_rejected(
    tmp_path: Path, numbers: Rows, batch: Batch, context: Any, positions: Any
) -> None:
    last = 2**31 * 3_600_000_000 - 1
    moments = [time(-(2**63) + 1), time(-last - 2), time(-last - 1), time(last), time(last + 1)]
    rows = numbers(0, len(moments), "n", column(moments))
    sink = lake_sink("iceberg", tmp_path, "t", context, time=FieldPath(("v",)))
    result = sink.write(rows, batch(0, 0, len(moments)))
    assert result.written == 2
    assert stored(tmp_path, "t") == {2: -last - 1, 3: last}
    reasons = positions(result.rejected)
    assert [place for place, _ in reasons] == [0, 1, 4]
    assert reasons[0][1].startswith("column v: Iceberg counts hours in 32 bits, and would put it into another hour: -2")
    again = sink.write(rows, batch(0, 0, len(moments)))
    assert (again.written, again.refused, again.repeated) == (2, 3, True)


def test_a_text_that_is_not_utf8_is_kept_in_files_and_rejected_in_a_folders_name(
    tmp_path: Path, numbers: Rows, batch: Batch, context: Any, positions: Any
) -> None:
    for kind in ("delta", "iceberg"):
        lake_sink(kind, tmp_path, f"t_{kind}", context).write(
            numbers(0, 1, "n", "array(cast(unhex('FF41') as string)) as v"), batch(0, 0, 1)
        )
        files = [file for file in tmp_path.rglob("*.parquet") if f"/t_{kind}/" in str(file)]
        tables = [pq.ParquetFile(file).read() for file in files if "_delta_log" not in str(file)]
        texts = pa.concat_tables(tables)["v"].combine_chunks().flatten()
        assert texts.cast(pa.binary()).to_pylist() == [b"\xffA"]
    rows = numbers(0, 2, "n", "if(n = 0, 'a', cast(unhex('FF41') as string)) as v")
    sink = lake_sink("delta", tmp_path, "by_v", context, partition=(FieldPath(("v",)),))
    result = sink.write(rows, batch(0, 0, 2))
    assert result.written == 1
    [(place, reason)] = positions(result.rejected)
    assert place == 1
    assert reason.startswith("column v: a text is not UTF-8, and the folder's name would have U+FFFD")
    repeated = sink.write(rows, batch(0, 0, 2))
    assert (repeated.written, repeated.repeated, repeated.refused) == (1, True, 1)
