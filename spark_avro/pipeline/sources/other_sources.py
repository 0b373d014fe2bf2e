"""Sources besides Kafka: files, a query in a database, and rows that Spark makes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import StructType

from spark_avro.pipeline.file.source import DeltaTable, FilesSource, JdbcSource, RateSource, Table
from spark_avro.pipeline.ports import SourceRange
from spark_avro.pipeline.sources.checkpoint_reader import Offsets
from spark_avro.pipeline.sources.lines import (
    LinePlan,
    are_checked,
    checked_lines,
    place_of_line,
    read_checked,
    schema_of,
)
from spark_avro.pipeline.sources.parts import Part
from spark_avro.pipeline.sources.plans import FixedPlan
from spark_avro.pipeline.sources.position import position
from spark_avro.pipeline.sources.topic_ids import TopicIdsByName
from spark_avro.streams.followers import Plans


class Rows:
    """A source whose records are rows already: nothing is decoded, and there are no offsets."""

    parts: Sequence[Part] = ()
    plans: Mapping[str, Plans] = {}
    refreshes = False
    table_topics: Collection[str] = ()

    def batch(self, ranges: Sequence[SourceRange] = ()) -> DataFrame:
        """All rows."""
        raise NotImplementedError

    def empty(self) -> DataFrame:
        """No rows, with the columns of all."""
        return self.batch().limit(0)

    def positioned(self, records: DataFrame, name: str = "") -> DataFrame:
        """The rows themselves: they have `_kafka`."""
        del name
        return records

    def place(self, position: Row, error: Row) -> str:
        """The source of a row in words."""
        del error
        return str(position["topic"])

    def whole(self, _topics: Collection[str]) -> DataFrame:
        """No rows: the source has no topics."""
        return self.empty()

    def stream_starts(self) -> Offsets:
        """No offsets."""
        return {}

    def has_table_records(self) -> bool:
        """Never: the source has no topics."""
        return False

    def lag(self, _ends: Offsets) -> Mapping[tuple[str, int], int]:
        """No lag: the source has no offsets."""
        return {}

    def lost(self, _ranges: Sequence[SourceRange]) -> int:
        """No losses: the source has no offsets."""
        return 0

    def topic_ids(self, _topics: Collection[str]) -> TopicIdsByName:
        """No ids: the source has no topics."""
        return {}

    def topics(self) -> Collection[str]:
        """No topics."""
        return ()

    def cautions(self) -> Sequence[str]:
        """No cautions."""
        return ()

    def first_offsets(self, _topics: Collection[str]) -> Offsets:
        """No offsets."""
        return {}

    def replaced(self, _topic_ids: TopicIdsByName) -> Collection[str]:
        """No topics."""
        return ()

    def close(self) -> None:
        """There is nothing to close."""


class FileRows(Rows):
    """Files in a folder."""

    def __init__(self, spark: SparkSession, spec: FilesSource) -> None:
        self._spark = spark
        self._spec = spec
        self._schema: StructType | None = None
        if are_checked(spec):
            self.plans = {"value": FixedPlan(LinePlan())}
            self.parts = [Part("", (), self.plans, spec)]

    def stream(self, _starts: Offsets | None = None, _topics: Collection[str] = ()) -> DataFrame:
        """The rows of files that are not read yet."""
        spec = self._spec
        if are_checked(spec):
            return self._lines(as_stream=True)
        schema: StructType | str = spec.schema or read_table(self._spark, spec).schema
        reader = self._spark.readStream.format(spec.format).options(**spec.options).schema(schema)
        return _of_files(reader.option("maxFilesPerTrigger", str(spec.limit)).load(spec.path))

    def batch(self, ranges: Sequence[SourceRange] = ()) -> DataFrame:
        """The rows of all files."""
        del ranges
        if are_checked(self._spec):
            return self._lines()
        return _of_files(read_table(self._spark, self._spec))

    def _lines(self, *, as_stream: bool = False) -> DataFrame:
        if self._schema is None:
            self._schema = schema_of(self._spark, self._spec)
        return _of_files(checked_lines(self._spark, self._spec, self._schema, as_stream=as_stream))

    def place(self, position: Row, error: Row) -> str:
        """The file of a malformed line, and the number of the line if it can be found."""
        return place_of_line(self._spark, self._spec, position["topic"], error["raw"])


class JdbcRows(Rows):
    """The result of a query."""

    def __init__(self, spark: SparkSession, spec: JdbcSource) -> None:
        self._spark = spark
        self._spec = spec

    def stream(self, _starts: Offsets | None = None, _topics: Collection[str] = ()) -> None:
        """A query is read once."""

    def batch(self, ranges: Sequence[SourceRange] = ()) -> DataFrame:
        """The rows."""
        del ranges
        rows = read_table(self._spark, self._spec)
        return rows.select("*", position({"topic": F.lit("jdbc"), "partition": F.lit(0)}))


class RateRows(Rows):
    """Rows that Spark makes: `value` counts from 0, and `timestamp` is the time of the row."""

    def __init__(self, spark: SparkSession, spec: RateSource, *, bounded: bool) -> None:
        self._spark = spark
        self._spec = spec
        self._bounded = bounded

    def stream(self, _starts: Offsets | None = None, _topics: Collection[str] = ()) -> DataFrame | None:
        """The rows as they come; None if the source is bounded."""
        if self._bounded:
            return None
        reader = self._spark.readStream.format("rate").option("rowsPerSecond", str(self._spec.rows_per_second))
        return _of_rate(reader.load())

    def batch(self, ranges: Sequence[SourceRange] = ()) -> DataFrame:
        """The rows of a bounded source."""
        del ranges
        count = self._spec.rows or self._spec.rows_per_second
        numbers = self._spark.range(count).withColumnRenamed("id", "value")
        start = F.timestamp_seconds(F.lit(0))
        return _of_rate(numbers.select(start.alias("timestamp"), "value"))


def read_table(spark: SparkSession, spec: Table) -> DataFrame:
    """The rows of a table as they are now."""
    return _READERS[type(spec)](spark, spec)  # type: ignore[operator]


def _read_files(spark: SparkSession, spec: FilesSource) -> DataFrame:
    if are_checked(spec):
        return read_checked(spark, spec)
    reader = spark.read.format(spec.format).options(**spec.options)
    if spec.schema is not None:
        reader = reader.schema(spec.schema)
    return reader.load(spec.path)


def _read_jdbc(spark: SparkSession, spec: JdbcSource) -> DataFrame:
    options = {**spec.properties, "url": spec.url, "query": spec.query}
    return spark.read.format("jdbc").options(**options).load()


def _read_delta(spark: SparkSession, spec: DeltaTable) -> DataFrame:
    return spark.read.format("delta").load(spec.path)


_READERS = {FilesSource: _read_files, JdbcSource: _read_jdbc, DeltaTable: _read_delta}


def _of_files(rows: DataFrame) -> DataFrame:
    columns = [F.col(f"`{name}`") for name in rows.columns if name != "_metadata"]
    return rows.select(*columns, position({"topic": F.col("_metadata.file_path"), "partition": F.lit(0)}))


def _of_rate(rows: DataFrame) -> DataFrame:
    parts = {"topic": F.lit("rate"), "partition": F.lit(0), "offset": F.col("value"), "timestamp": F.col("timestamp")}
    return rows.select("timestamp", "value", position(parts))
