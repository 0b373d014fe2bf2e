"""Values at the edges of their types, read by sqlite3, psycopg and pyarrow: each is kept, or rejected with a reason."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import psycopg
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame

from spark_avro import sinks
from spark_avro.pipeline.file.sinks import FilesSink, SqlSink
from spark_avro.pipeline.file.sql_text import Sql, SqlRole
from spark_avro.pipeline.ports import BatchIdentity, SinkRefused
from spark_avro.pipeline.sinks.files import FilesTarget
from spark_avro.pipeline.sinks.sql.target import SqlTarget
from tests.spark.pipeline.sinks.recorded_sink import RecordedSink

#: Year 294247, the last microsecond of 64 bits, and a microsecond before year 1.
LAST, BEFORE_1 = 9223372036854775807, -62135596800000001


def time(micros: int) -> str:
    return f"timestamp_micros({micros}L)"


_BROKEN = "column v: a text is not UTF-8, and JSON would have U+FFFD in place of its bytes"

#: Name -> SQL of a value, and what SQLite and PostgreSQL have; a text after `!` is in the reason of a rejected row.
CASES: dict[str, list[tuple[str, Any, Any]]] = {
    "timestamp": [
        (time(-62135596800000000), "0001-01-01 00:00:00", "0001-01-01 00:00:00+00"),
        (time(-12219292800000001), "1582-10-14 23:59:59.999999", "1582-10-14 23:59:59.999999+00"),
        (time(253402300800000000), "+10000-01-01 00:00:00", "10000-01-01 00:00:00+00"),
        (time(971890963200000000), "+32768-01-01 00:00:00", "!971890963200000000 us from 1970-01-01 is outside of"),
        (time(971890963199999999), "+32767-12-31 23:59:59.999999", "32767-12-31 23:59:59.999999+00"),
        (time(LAST), "+294247-01-10 04:00:54.775807", "!column v: 9223372036854775807 us from 1970-01-01 is outside"),
        (time(BEFORE_1), "0000-12-31 23:59:59.999999", "!is outside of the years 1 to 32767"),
    ],
    "timestamp_ntz": [
        (f"cast({time(-12219292800000001)} as timestamp_ntz)", "1582-10-14 23:59:59.999999",
         "1582-10-14 23:59:59.999999"),
        (f"cast({time(LAST)} as timestamp_ntz)", "+294247-01-10 04:00:54.775807", "!is outside of the years"),
    ],
    "date": [
        ("date_from_unix_date(-719162)", "0001-01-01", "0001-01-01"),
        ("date_from_unix_date(-719163)", "0000-12-31", "!-719163 days from 1970-01-01 is outside of the years 1"),
        ("date_from_unix_date(-141428)", "1582-10-14", "1582-10-14"),
        ("date_from_unix_date(11248737)", "+32767-12-31", "32767-12-31"),
        ("date_from_unix_date(11248738)", "+32768-01-01", "!is outside of the years 1 to 32767"),
    ],
    "double": [
        ("double('NaN')", "!column v: SQLite would store NaN as NULL", "NaN"),
        ("double('-0.0')", "!column v: SQLite would store -0.0 as 0.0; add 0.0 in a step", "-0"),
        ("0.0D", 0.0, "0"),
        ("double('-Infinity')", float("-inf"), "-Infinity"),
        ("4.9E-324D", 5e-324, "5e-324"),
        ("cast(null as double)", None, None),
    ],
    "float": [
        ("float('NaN')", "!would store NaN as NULL", "NaN"),
        ("float('-0.0')", "!would store -0.0 as 0.0", "-0"),
        ("float('0.1')", 0.10000000149011612, "0.1"),
    ],
    "decimal": [
        ("cast('-0.99999999999999999999999999999999999999' as decimal(38,38))",
         "-0.99999999999999999999999999999999999999", "-0.99999999999999999999999999999999999999"),
    ],
    "text": [
        ("''", "", ""),
        ("'a\\u0000b'", "a\0b", "!invalid byte sequence"),
        ("'\\\\N'", "\\N", "\\N"),
        ("cast(unhex('FF41') as string)", "!can't decode byte 0xff", "!invalid byte sequence"),
        ("cast(unhex('EDA080') as string)", "!can't decode byte 0xed", "!invalid byte sequence"),
    ],
    "bytes": [("cast('' as binary)", b"", "\\x"), ("unhex('00FF')", b"\0\xff", "\\x00ff")],
    "struct": [
        ("named_struct('a', cast(null as int), 'b', cast(null as string))", '{"a":null,"b":null}',
         '{"a": null, "b": null}'),
        ("cast(null as struct<a: int, b: string>)", None, None),
    ],
    "array": [("array(named_struct('a', cast(null as int)), null)", '[{"a":null},null]', '[{"a": null}, null]')],
    "times": [
        (f"named_struct('at', {time(1700000000123456)})", '{"at":"2023-11-14T22:13:20.123456Z"}',
         '{"at": "2023-11-14T22:13:20.123456Z"}'),
        (f"named_struct('at', {time(LAST)})", '{"at":"+294247-01-10T04:00:54.775807Z"}',
         '{"at": "+294247-01-10T04:00:54.775807Z"}'),
    ],
    "local": [
        (f"array(cast({time(1)} as timestamp_ntz))", '["1970-01-01T00:00:00.000001"]',
         '["1970-01-01T00:00:00.000001"]'),
    ],
    "doubles": [
        ("map('-0.0', 1.5D)", '{"-0.0":1.5}', '{"-0.0": 1.5}'),
        ("map('a', double('-0.0'))", '{"a":-0.0}', "!column v: jsonb would store -0.0 as 0.0"),
        ("map('a', double('NaN'))", '{"a":"NaN"}', '{"a": "NaN"}'),
    ],
    "money": [
        ("array(cast('999999999999999999999999999999999999.90' as decimal(38,2)))",
         "[999999999999999999999999999999999999.90]", "[999999999999999999999999999999999999.90]"),
    ],
    "broken": [
        *[(f"{before}cast(unhex('FF41') as string){after}", f"!{_BROKEN}", f"!{_BROKEN}")
          for before, after in (
              ("array(named_struct('t', ", ", 'b', cast(null as binary), 'm', map('a', array(array('b')))))"),
              ("array(named_struct('t', '', 'b', unhex('FF'), 'm', map(", ", array(array('b')))))"),
              ("array(null, named_struct('t', '', 'b', unhex('FF'), 'm', map('a', array(null, array(null, ", ")))))"),
          )],
        ("array(named_struct('t', '\\uFFFD', 'b', unhex('FF'), 'm', map('a', array(array('\\uFFFD')))))",
         '[{"t":"\ufffd","b":"/w==","m":{"a":[["\ufffd"]]}}]',
         '[{"b": "/w==", "m": {"a": [["\ufffd"]]}, "t": "\ufffd"}]'),
    ],
    "nul": [("array('\\u0000')", '["\\u0000"]', "!u0000 cannot be converted to text")],
}  # fmt: skip

Rows = Callable[..., DataFrame]


def column(values: Sequence[str]) -> str:
    return "case n " + " ".join(f"when {number} then {value}" for number, value in enumerate(values)) + " end as v"


def sqlite_values(url: str, table: str) -> dict[int, Any]:
    with sqlite3.connect(url.removeprefix("sqlite:///")) as connection:
        values = dict(connection.execute(f"select n, v from {table}").fetchall())
    connection.close()
    return values


def postgresql_values(url: str, table: str) -> dict[int, Any]:
    with psycopg.connect(url, options="-c timezone=UTC") as connection:
        return dict(connection.execute(f"select n, v::text from {table}").fetchall())


@pytest.mark.parametrize("kind", ["sqlite", "postgresql", pytest.param("executors", marks=pytest.mark.slow)])
def test_a_database_keeps_each_value_or_its_row_is_rejected(
    kind: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    numbers: Rows,
    batch: Callable[..., BatchIdentity],
    context: Any,
    positions: Any,
) -> None:
    is_sqlite = kind == "sqlite"
    url = f"sqlite:///{tmp_path}/t.db" if is_sqlite else request.getfixturevalue("postgresql")
    via = "executors" if kind == "executors" else "driver"
    for name, cases in CASES.items():
        target = RecordedSink(SqlTarget(SqlSink(url=url, table=f"t_{name}", via=via), context()))
        result = target.write(numbers(0, len(cases), "n", column([case[0] for case in cases])), batch(0, 0, len(cases)))
        target.close()
        values = sqlite_values(url, f"t_{name}") if is_sqlite else postgresql_values(url, f"t_{name}")
        rejected = {} if result.rejected is None else dict(positions(result.rejected))
        expected = {number: case[1 if is_sqlite else 2] for number, case in enumerate(cases)}
        reasons = {number: value[1:] for number, value in expected.items() if str(value).startswith("!")}
        assert values == {number: value for number, value in expected.items() if number not in reasons}, name
        assert rejected.keys() == reasons.keys(), name
        assert all(reasons[number] in rejected[number] for number in reasons), (name, rejected)
        assert result.written == len(values)


@pytest.mark.parametrize("key", ["unhex('00FF')", "named_struct('k', 1)"])
def test_a_map_whose_keys_are_no_texts_is_refused(key: str, tmp_path: Path, numbers: Rows, context: Any) -> None:
    target = SqlTarget(SqlSink(url=f"sqlite:///{tmp_path}/t.db", table="t"), context())
    schema = numbers(0, 1, f"array(map({key}, 1)) as v").schema
    with pytest.raises(SinkRefused, match=r"column v: there is no SQL type for array<map<.*>>; cast it"):
        target.prepare(schema)
    with pytest.raises(SinkRefused, match=r"column v: JSON has no keys that are .* as a map in array<map<.*>> has"):
        FilesTarget(FilesSink(path=str(tmp_path), format="json"), context()).prepare(schema)
    FilesTarget(FilesSink(path=str(tmp_path)), context()).prepare(schema)


TIMES = [0, -62135596800000000, -12219292800000001, -2208988800000001, 1700000000123456, 253402300799999999, LAST]


def parquet_micros(folder: Path) -> list[int]:
    """The timestamps in the order of `n`, with pyarrow's defaults."""
    tables = [pq.ParquetFile(file).read() for file in folder.rglob("*.parquet")]
    assert {str(table.schema.field("v").type) for table in tables} == {"timestamp[us, tz=UTC]"}
    found = {n.as_py(): value.value for table in tables for n, value in zip(table["n"], table["v"], strict=True)}
    return [found[number] for number in sorted(found)]


def test_parquet_files_have_microseconds(
    tmp_path: Path, numbers: Rows, batch: Callable[..., BatchIdentity], context: Any
) -> None:
    rows = numbers(0, len(TIMES), "n", column([time(micros) for micros in TIMES]))
    RecordedSink(FilesTarget(FilesSink(path=str(tmp_path / "files")), context())).write(rows, batch(0, 0, len(TIMES)))
    sinks.parquet(str(tmp_path / "plain"), column=None, query="q")(rows.drop("_kafka"), 0)
    assert parquet_micros(tmp_path / "files") == TIMES
    assert parquet_micros(tmp_path / "plain") == TIMES
    assert rows.sparkSession.conf.get("spark.sql.parquet.outputTimestampType") == "INT96"


def test_a_folder_with_int96_files_is_continued(
    tmp_path: Path, numbers: Rows, batch: Callable[..., BatchIdentity], context: Any
) -> None:
    rows = numbers(0, 1, "n", f"{time(1700000000123456)} as v")
    rows.drop("_kafka").write.parquet(str(tmp_path / "files/dt=2026-01-01/hour=05/batch=old"))
    RecordedSink(FilesTarget(FilesSink(path=str(tmp_path / "files")), context())).write(rows, batch(0, 0, 1))
    both = rows.sparkSession.read.parquet(str(tmp_path / "files"))
    assert [row["v"] for row in both.selectExpr("cast(v as string) as v").collect()] == [
        "2023-11-14 22:13:20.123456"
    ] * 2


def test_json_files_have_microseconds(
    tmp_path: Path, numbers: Rows, batch: Callable[..., BatchIdentity], context: Any
) -> None:
    rows = numbers(0, 1, "n", f"{time(1)} as at", f"cast({time(1)} as timestamp_ntz) as local")
    RecordedSink(FilesTarget(FilesSink(path=str(tmp_path), format="json"), context())).write(rows, batch(0, 0, 1))
    [file] = tmp_path.rglob("batch=*/*.json")
    assert file.read_text() == '{"n":0,"at":"1970-01-01T00:00:00.000001Z","local":"1970-01-01T00:00:00.000001"}\n'


def test_files_keep_text_that_is_not_utf8_or_reject_its_row(
    tmp_path: Path, numbers: Rows, batch: Callable[..., BatchIdentity], context: Any, positions: Any
) -> None:
    broken = "if(n = 1, cast(unhex('FF41') as string), 'a\\uFFFD')"
    rows = numbers(0, 2, "n", f"{broken} as v", f"array(named_struct('t', {broken}, 'b', unhex('FF'))) as w")
    for kind in ("parquet", "avro"):
        sink = RecordedSink(FilesTarget(FilesSink(path=str(tmp_path / kind), format=kind), context()))
        assert sink.write(rows, batch(0, 0, 2)).written == 2
    [file, *others] = (tmp_path / "parquet").rglob("*.parquet")
    table = pq.read_table([file, *others], partitioning=None)
    texts = dict(zip(table["n"].to_pylist(), table["v"].cast("binary").to_pylist(), strict=True))
    assert texts == {0: "a\ufffd".encode(), 1: b"\xffA"}
    assert any(b"\x04\xffA" in file.read_bytes() for file in (tmp_path / "avro").rglob("*.avro"))
    as_json = RecordedSink(FilesTarget(FilesSink(path=str(tmp_path / "json"), format="json"), context()))
    written = as_json.write(rows, batch(0, 0, 2))
    assert written.written == 1
    [(place, reason)] = positions(written.rejected)
    assert (place, reason.partition(";")[0]) == (1, _BROKEN)
    [file] = (tmp_path / "json").rglob("batch=*/*.json")
    assert json.loads(file.read_bytes()) == {"n": 0, "v": "a\ufffd", "w": [{"t": "a\ufffd", "b": "/w=="}]}
    by_v = FilesSink(path=str(tmp_path / "by_v"), partition=(Sql("v", SqlRole.ITEM),))
    written = RecordedSink(FilesTarget(by_v, context())).write(rows, batch(0, 0, 2))
    assert written.written == 1
    assert positions(written.rejected)[0][1].startswith("column v: a text is not UTF-8, and the folder's name would")
