"""Lines of CSV and JSON files: a malformed one is an error with its file and number, where Spark makes NULLs of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import ClassVar
from urllib.parse import unquote

from pyspark.sql import DataFrame, DataFrameReader, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark
from pyspark.sql.streaming import DataStreamReader
from pyspark.sql.types import _parse_datatype_string

from spark_avro.pipeline.file.source import FilesSource
from spark_avro.plan.frames import Guids, Message
from spark_avro.plan.parts import Decoded
from spark_avro.plan.reasons import MALFORMED
from spark_avro.plan.rules.reading import NO_RULES, ReadRules

#: Spark's column for the texts of malformed lines.
_TEXT = "_magicbyte_malformed"
#: The column that Spark itself infers for such lines of JSON.
_INFERRED = "_corrupt_record"
_REASON = f"{MALFORMED}: the line does not have the columns or types of the files' schema"


@dataclass(frozen=True, slots=True)
class LinePlan:
    """Lines as `checked_lines` reads them: a struct of the `row`, and the `text` of a malformed line."""

    ids: Sequence[int] = ()
    unreadable: Mapping[int, str] = field(default_factory=dict)
    guids: Guids = field(default_factory=dict)
    rules: ReadRules = NO_RULES
    has_indexes: ClassVar[bool] = False

    def parts(self, message: Message) -> Decoded:
        """The parts of a line."""
        sound = message.payload.getField("text").isNull()
        return Decoded(message.payload.getField("row"), sound, F.lit(_REASON), F.lit(None).cast("long"))


def are_checked(spec: FilesSource) -> bool:
    """Whether malformed lines of files are errors."""
    return spec.has_lines and spec.malformed_column is None


def checked_lines(
    spark_session: SparkSession, spec: FilesSource, schema: spark.StructType, *, as_stream: bool = False
) -> DataFrame:
    """The lines of files as `value`, see `LinePlan`, and Spark's `_metadata`.

    Args:
        spark_session: The session.
        spec: The files.
        schema: The columns.
        as_stream: Whether files that are not read yet are read as a stream.
    """
    with_text = spark.StructType([*schema.fields, spark.StructField(_TEXT, spark.StringType())])
    reader: DataFrameReader | DataStreamReader = spark_session.read
    if as_stream:
        reader = spark_session.readStream.option("maxFilesPerTrigger", str(spec.limit))
    lines = reader.format(spec.format).options(**_options(spec)).schema(with_text).load(spec.path)
    columns = [F.col(f"`{name}`") for name in schema.names]
    # Spark only looks at the columns that a query needs: this one needs all, so each query finds the same lines.
    needed = reduce(add, (column.isNull().cast("int") for column in columns))
    text = F.when(needed >= 0, F.col(_TEXT))
    return lines.select(F.struct(F.struct(*columns).alias("row"), text.alias("text")).alias("value"), "_metadata")


def read_checked(spark_session: SparkSession, spec: FilesSource) -> DataFrame:
    """The rows of files; a malformed line makes the query fail, and the error names the file and the line's text."""
    lines = checked_lines(spark_session, spec, schema_of(spark_session, spec))
    text = F.col("value.text")
    problem = F.concat(F.col("_metadata.file_path"), F.lit(" has a malformed line: "), F.substring(text, 1, 200))
    return lines.where(F.when(text.isNull(), F.lit(True)).otherwise(F.raise_error(problem))).select("value.row.*")


def place_of_line(spark_session: SparkSession, spec: FilesSource, url: str, line: Row) -> str:
    """A malformed line in words: its file, and its number unless the file is not in UTF-8."""
    file = unquote(url)
    # A line of CSV may have line feeds within quotes.
    first = line["text"].splitlines()[0] if line["text"] else ""
    separator = {name: value for name, value in spec.options.items() if name.lower() == "linesep"}
    texts = spark_session.read.options(**separator).text(re.sub(r"([\\{}\[\]*?])", r"\\\1", file))
    numbered = texts.select("value", F.monotonically_increasing_id().alias("id"))
    found = numbered.where(F.col("value") == first).agg(F.min("id")).collect()[0][0]
    if found is None:
        return file
    # The ids have gaps, but grow along the file.
    return f"line {numbered.where(F.col('id') < found).count() + 1} of {file}"


def schema_of(spark_session: SparkSession, spec: FilesSource) -> spark.StructType:
    """The columns of files: those that are declared, or those of the files that are there now."""
    if spec.schema is not None:
        declared = _parse_datatype_string(spec.schema)
        assert isinstance(declared, spark.StructType)
        return declared
    inferred = spark_session.read.format(spec.format).options(**_options(spec)).load(spec.path).schema
    return spark.StructType([field for field in inferred.fields if field.name not in {_INFERRED, _TEXT}])


def _options(spec: FilesSource) -> dict[str, str]:
    """The options of Spark's reader. By default, Spark would take columns by position, whatever a header says."""
    ours = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _TEXT}
    given = {name.lower() for name in spec.options}
    by_header = {} if "enforceschema" in given or spec.format != "csv" else {"enforceSchema": "false"}
    kept = {name: value for name, value in spec.options.items() if name.lower() not in {name.lower() for name in ours}}
    return {**by_header, **kept, **ours}
