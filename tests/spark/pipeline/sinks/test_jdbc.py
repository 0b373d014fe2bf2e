"""The JDBC sink on Derby, which Spark brings, and PostgreSQL: at least once, and the table is not changed."""

from __future__ import annotations

import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from pyspark.sql import DataFrame, SparkSession

from magicbyte.platform.jars import JDBC_DRIVER_LOCKS, paths
from spark_avro.pipeline.file.sinks import JdbcSink
from spark_avro.pipeline.ports import BatchIdentity, Delivery, SinkContext, SinkRefused
from spark_avro.pipeline.sinks import open_sink
from tests.spark.pipeline.sinks.recorded_sink import RecordedSink
from tests.spark.pipeline.sinks.test_values import BEFORE_1, LAST, column, time


def test_a_repeated_batch_is_there_twice_and_a_unique_key_tells(
    spark: SparkSession,
    context: Callable[..., SinkContext],
    numbers: Callable[..., DataFrame],
    batch: Callable[..., BatchIdentity],
    tmp_path: Path,
) -> None:
    url = f"jdbc:derby:{tmp_path}/db;create=true"

    def sink(**settings: Any) -> Any:
        return RecordedSink(open_sink(JdbcSink(url=url, table="t", keep_position=True), context(**settings)))

    def rows() -> list[tuple[Any, ...]]:
        return sorted(tuple(row) for row in spark.read.jdbc(url, "t").select("n", "_kafka_offset").collect())

    assert sink().guarantee.delivery is Delivery.AT_LEAST_ONCE
    assert sink().prepare(numbers(0, 1).schema)[0].startswith("CREATE TABLE t by Spark's types: struct<n:bigint,")
    assert sink().write(numbers(0, 2), batch(0, 0, 2)).written == 2
    assert sink().write(numbers(0, 2), batch(0, 0, 2)).repeated is False
    assert rows() == [(0, 0), (0, 0), (1, 1), (1, 1)]
    wider = numbers(2, 3, "n", "'new' as s")
    with pytest.raises(SinkRefused, match=r"t: add column s string: a JDBC table is not changed"):
        sink().prepare(wider.schema)
    sink(columns="ignore").write(wider, batch(1, 2, 3))
    assert rows()[-1] == (2, 2)


def test_a_row_that_java_would_change_is_rejected(
    spark: SparkSession,
    context: Callable[..., SinkContext],
    numbers: Callable[..., DataFrame],
    batch: Callable[..., BatchIdentity],
    positions: Callable[[DataFrame | None], list[tuple[int, str]]],
    tmp_path: Path,
) -> None:
    url = f"jdbc:derby:{tmp_path}/db;create=true"
    values = (
        "if(n = 1, cast(unhex('FF41') as string), 'a') as s",
        "date_from_unix_date(if(n = 2, 2932897, 2932896)) as d",
        "timestamp_micros(if(n = 3, -62135596800000001, 0)) as t",
    )
    sink = RecordedSink(open_sink(JdbcSink(url=url, table="t"), context()))
    result = sink.write(numbers(0, 5, "n", *values), batch(0, 0, 5))
    assert result.written == 2
    assert [(place, reason.partition(",")[0]) for place, reason in positions(result.rejected)] == [
        (1, "column s: a text is not UTF-8"),
        (2, "column d: the year is outside of 1 to 9999"),
        (3, "column t: the year is outside of 1 to 9999"),
    ]
    assert sorted(row["n"] for row in spark.read.jdbc(url, "t").collect()) == [0, 4]
    with pytest.raises(SinkRefused, match=r"sink.jdbc.url: SQLite's driver would cut .*; use sink.sql with sqlite:///"):
        open_sink(JdbcSink(url="jdbc:sqlite:/tmp/t.db", table="t"), context())


class Forwarder(socketserver.ThreadingTCPServer):
    """Connects a port to PostgreSQL's socket in a folder, which Java cannot open."""

    daemon_threads = True

    def __init__(self, folder: str) -> None:
        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                with socket.socket(socket.AF_UNIX) as server:
                    server.connect(f"{folder}/.s.PGSQL.5432")
                    back = threading.Thread(target=copy, args=(server, self.request), daemon=True)
                    back.start()
                    copy(self.request, server)
                    back.join()

        super().__init__(("127.0.0.1", 0), Handler)


def copy(source: socket.socket, target: socket.socket) -> None:
    """Copy until one of the two is closed."""
    try:
        while part := source.recv(65536):
            target.sendall(part)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


@pytest.fixture
def jdbc_url(postgresql: str, spark: SparkSession) -> Iterator[str]:
    """The JDBC URL of a database; the session has the driver."""
    [jar] = paths(JDBC_DRIVER_LOCKS["postgresql"])
    spark.sql(f"ADD JAR '{jar}'")
    url = sa.make_url(postgresql)
    with Forwarder(str(url.query["host"])) as forwarder:
        threading.Thread(target=forwarder.serve_forever, daemon=True).start()
        yield f"jdbc:postgresql://127.0.0.1:{forwarder.server_address[1]}/{url.database}"
        forwarder.shutdown()


#: Column type -> SQL of its values, and what PostgreSQL has; a text after `!` is in the reason of a rejected row.
POSTGRESQL_CASES: dict[str, list[tuple[str, Any]]] = {
    "timestamp": [
        (time(-62135596800000000), "0001-01-01 00:00:00+00"),
        (time(-12220243200000001), "1582-10-03 23:59:59.999999+00"),
        (time(-12219292800000001), "!column v: Java has no days from 1582-10-04 to 1582-10-15"),
        (time(-12219206400000000), "1582-10-16 00:00:00+00"),
        (time(1700000000123456), "2023-11-14 22:13:20.123456+00"),
        (time(253402300799999999), "9999-12-31 23:59:59.999999+00"),
        (time(253402300800000000), "!column v: the year is outside of 1 to 9999"),
        (time(LAST), "!column v: the year is outside of 1 to 9999"),
        (time(BEFORE_1), "!column v: the year is outside of 1 to 9999"),
    ],
    "timestamp_ntz": [
        (f"cast({time(-12220156800000001)} as timestamp_ntz)", "1582-10-04 23:59:59.999999"),
        (f"cast({time(-12219292800000001)} as timestamp_ntz)", "!column v: Java has no days from 1582-10-05 to"),
        (f"cast({time(-12219292800000000)} as timestamp_ntz)", "1582-10-15 00:00:00"),
        (f"cast({time(LAST)} as timestamp_ntz)", "!column v: the year is outside of 1 to 9999"),
    ],
    "date": [
        ("date_from_unix_date(-719162)", "0001-01-01"),
        ("date_from_unix_date(-141438)", "1582-10-04"),
        ("date_from_unix_date(-141437)", "!column v: Java has no days from 1582-10-05 to 1582-10-14"),
        ("date_from_unix_date(-141428)", "!column v: Java has no days from 1582-10-05 to 1582-10-14"),
        ("date_from_unix_date(-141427)", "1582-10-15"),
        ("date_from_unix_date(-719163)", "!column v: the year is outside of 1 to 9999"),
        ("date_from_unix_date(2932897)", "!column v: the year is outside of 1 to 9999"),
    ],
    "double": [
        ("double('NaN')", "NaN"),
        ("double('-0.0')", "-0"),
        ("double('Infinity')", "Infinity"),
        ("double('-Infinity')", "-Infinity"),
        ("4.9E-324D", "5e-324"),
        ("1.7976931348623157E308D", "1.7976931348623157e+308"),
        ("0.1D", "0.1"),
        ("cast(null as double)", None),
    ],
    "float": [
        ("float('NaN')", "NaN"),
        ("float('-0.0')", "-0"),
        ("float('Infinity')", "Infinity"),
        ("float('1.4E-45')", "1e-45"),
        ("float('0.1')", "0.1"),
    ],
    "decimal": [
        ("cast('-0.99999999999999999999999999999999999999' as decimal(38,38))",
         "-0.99999999999999999999999999999999999999"),
        ("cast('0' as decimal(38,38))", "0.00000000000000000000000000000000000000"),
    ],
    "money": [("cast('999999999999999999999999999999999999.90' as decimal(38,2))",
               "999999999999999999999999999999999999.90")],
    "text": [
        ("''", ""),
        ("'a\\u0000b'", "!column v: PostgreSQL has no text with U+0000; replace it in a step"),
        ("'\\\\N'", "\\N"),
        ("'\\uD83D\\uDE00'", "\U0001f600"),
        ("cast(unhex('FF41') as string)", "!column v: a text is not UTF-8, and JDBC would have U+FFFD"),
    ],
    "texts": [
        ("array('a', null)", "{a,NULL}"),
        ("array('a', 'b\\u0000')", "!column v: PostgreSQL has no text with U+0000; replace it in a step"),
    ],
    "days": [
        ("array(null, date_from_unix_date(-141438))", "{NULL,1582-10-04}"),
        ("array(null, date_from_unix_date(-141437))", "!column v: Java has no days from 1582-10-05 to 1582-10-14"),
        ("array(date_from_unix_date(2932897))", "!column v: the year is outside of 1 to 9999"),
    ],
    "bytes": [("cast('' as binary)", "\\x"), ("unhex('00FF')", "\\x00ff")],
    "byte": [("cast(-128 as tinyint)", "-128")],
    "long": [("-9223372036854775807L - 1L", "-9223372036854775808")],
    "bool": [("false", "false")],
}  # fmt: skip


@pytest.mark.slow
def test_postgresql_keeps_each_value_or_its_row_is_rejected(
    jdbc_url: str,
    postgresql: str,
    context: Callable[..., SinkContext],
    numbers: Callable[..., DataFrame],
    batch: Callable[..., BatchIdentity],
    positions: Callable[[DataFrame | None], list[tuple[int, str]]],
) -> None:
    properties = {"user": "postgres", "driver": "org.postgresql.Driver"}
    for name, cases in POSTGRESQL_CASES.items():
        rows = numbers(0, len(cases), "n", column([sql for sql, _ in cases]))
        sink = RecordedSink(open_sink(JdbcSink(url=jdbc_url, table=f"t_{name}", properties=properties), context()))
        result = sink.write(rows, batch(0, 0, len(cases)))
        with psycopg.connect(postgresql, options="-c timezone=UTC") as connection:
            values = dict(connection.execute(f"select n, v::text from t_{name}").fetchall())
        rejected = {} if result.rejected is None else dict(positions(result.rejected))
        expected = {number: value for number, (_, value) in enumerate(cases)}
        reasons = {number: value[1:] for number, value in expected.items() if str(value).startswith("!")}
        assert values == {number: value for number, value in expected.items() if number not in reasons}, name
        assert rejected.keys() == reasons.keys(), name
        assert all(rejected[number].startswith(reasons[number]) for number in reasons), (name, rejected)
        assert result.written == len(values)


@pytest.mark.parametrize(
    ("sql", "kind"),
    [("named_struct('a', 1)", "struct<a:int>"), ("map('a', 1)", "map<string,int>"), ("array(1)", "array<int>")],
)
def test_a_column_without_a_jdbc_type_is_refused(
    sql: str, kind: str, tmp_path: Path, context: Callable[..., SinkContext], numbers: Callable[..., DataFrame]
) -> None:
    sink = open_sink(JdbcSink(url=f"jdbc:derby:{tmp_path}/db;create=true", table="t"), context())
    with pytest.raises(SinkRefused, match=f"t: column v: JDBC has no type for {kind}; make a text of it"):
        sink.prepare(numbers(0, 1, f"{sql} as v").schema)
