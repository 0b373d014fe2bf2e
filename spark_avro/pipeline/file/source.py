"""The sources of a pipeline, and the tables that its steps join."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from magicbyte.kit.settings.compound import ListOf, MapOf, OneKey, either, properties
from magicbyte.kit.settings.kinds import choice, flag, instant, text, whole
from magicbyte.kit.settings.section import Nested, setting
from magicbyte.kit.settings.urls import jdbc_url
from spark_avro.pipeline.file.section import Section

#: Formats that carry the id of a schema in each record.
BY_ID = ("auto", "avro", "json", "protobuf")
FORMATS = (*BY_ID, "json-plain", "string", "bytes")

_SCHEMA_SETTINGS = ("subject", "fields", "message", "validate", "rules")

_RULES = (
    "What becomes of the rules of schemas: apply carries them out, and a record that one rejects goes where errors go;"
    " refuse stops, and ignore reads without them."
)


class Format(Section):
    """The decoding of a record's key or value."""

    format: str = setting(
        choice(*FORMATS), "How the bytes are read; auto takes the type of the subject's latest version.", default="auto"
    )
    subject: str | None = setting(
        text("a subject"), "The subject whose versions are read.", default=None, default_words="`TOPIC-value`"
    )
    fields: tuple[str, ...] = setting(
        ListOf(text()), "The only fields to decode, with dots into records; Avro only.", default=()
    )
    message: str | None = setting(
        text("a full name"),
        "The message to read; records of others are broken. Protobuf only.",
        default=None,
        default_words="the schema's first",
    )
    validate: bool = setting(flag(), "Whether each JSON Schema record is validated.", default=False)
    rules: str = setting(choice("apply", "refuse", "ignore"), _RULES, default="apply")
    type: str | None = setting(
        text("a type in Spark's DDL"), "The columns of json-plain, such as `id long, name string`.", default=None
    )

    @property
    def is_by_id(self) -> bool:
        """Whether each record names its schema by an id."""
        return self.format in BY_ID

    def problems(self) -> Iterable[tuple[str, str]]:
        if self.format == "json-plain" and self.type is None:
            yield "", "type is missing: json-plain has no schema, so write its columns, such as `id long, name string`"
        if self.format != "json-plain" and self.type is not None:
            yield "type", f"is for json-plain; the format is {self.format}"
        if not self.is_by_id:
            yield from (
                (name, f"is for formats with schema ids; the format is {self.format}")
                for name in _SCHEMA_SETTINGS
                if name in self.origin.places
            )


class Limit(Section):
    """The size limit of a batch."""

    records: int = setting(whole(1), "The most records of a batch.", default=500_000)


class Records(Section):
    """Avro records of several types, each in a column of its own."""

    subjects: tuple[str, ...] = setting(
        ListOf(text("a subject"), or_one=True),
        "The subjects whose versions are read; if they share a record's name, newest last.",
        default=(),
        default_words="TOPIC-value and TOPIC-RECORD of all topics",
    )
    rules: str = setting(choice("apply", "refuse", "ignore"), _RULES, default="apply")


class Topics(Section):
    """Topics whose records are decoded in the same way."""

    topics: tuple[str, ...] = setting(
        ListOf(text("a topic", pattern=r"[A-Za-z0-9._-]{1,249}"), least=1, or_one=True), "The topics to read."
    )
    value: Format = setting(Nested(Format), "How values are decoded.", default=Format())
    key: Format | None = setting(
        Nested(Format), "How keys are decoded, into the column `_key`.", default=None, default_words="not decoded"
    )
    records: Records | None = setting(
        Nested(Records),
        "Instead of value: Avro records of several types; `{}` reads the subjects of the topics.",
        default=None,
    )

    @property
    def first_topic(self) -> str | None:
        """The first topic, whose subjects are the default; None with a pattern."""
        return self.topics[0] if self.topics else None

    def problems(self) -> Iterable[tuple[str, str]]:
        if self.records is not None and "value" in self.origin.places:
            yield "records", "stands beside value; give one of them"
        if self.records is None and len(self.topics) != 1 and self.value.is_by_id and self.value.subject is None:
            yield (
                "topics",
                "several topics need value.subject, records, source.union, or one pipeline for each topic",
            )


class KafkaSource(Topics):
    """Topics of Kafka."""

    topics: tuple[str, ...] = setting(
        ListOf(text("a topic", pattern=r"[A-Za-z0-9._-]{1,249}"), least=1, or_one=True),
        "The topics to read.",
        default=(),
    )
    pattern: str | None = setting(
        text("a regular expression"), "Instead of topics: all topics that match this regular expression.", default=None
    )
    union: tuple[Topics, ...] = setting(
        ListOf(Nested(Topics), least=1),
        "Instead of topics, value, key and records: several parts, each with its own. Their rows are united by the"
        " names of columns.",
        default=(),
    )
    start: str | datetime | Mapping[str, Mapping[str, int]] = setting(
        either(instant(), choice("earliest", "latest"), MapOf(MapOf(whole(), least=1), least=1)),
        "Where a new checkpoint begins: earliest, latest, a time, or offsets such as {flights: {0: 100}}.",
        default="earliest",
    )
    isolation: str = setting(
        choice("read_committed", "read_uncommitted"),
        "Whether records of open transactions are read.",
        default="read_committed",
    )
    limit: Limit = setting(Nested(Limit), "Maximum that a batch reads.", default=Limit())
    on_data_loss: str = setting(
        choice("fail", "report"),
        "What happens if records that were not read yet are gone; report goes on, and counts them.",
        default="fail",
    )
    options: Mapping[str, str] = setting(properties(), "More options of Spark's Kafka source.", default={}, secret=True)

    @property
    def parts(self) -> tuple[Topics, ...]:
        """The parts of the union; without one, the source itself."""
        return self.union or (self,)

    def problems(self) -> Iterable[tuple[str, str]]:
        if self.union:
            for name in ("topics", "pattern", "value", "key", "records"):
                if name in self.origin.places:
                    yield name, "stands beside union, whose parts have their own"
            return
        if not self.topics and self.pattern is None:
            yield "", "topics is missing: name the topics, or give a pattern or a union"
        if self.topics and self.pattern is not None:
            yield "pattern", "stands beside topics; give one of them"
        yield from super().problems()
        if self.pattern is not None and self.records is not None and not self.records.subjects:
            yield "records", "subjects is missing: a pattern names no subjects"


class FilesSource(Section):
    """Files in a folder."""

    path: str = setting(text("a folder"), "The folder, or a pattern such as s3a://lake/flights/dt=*.")
    format: str = setting(choice("parquet", "avro", "json", "csv"), "The files' format.", default="parquet")
    schema: str | None = setting(
        text("columns in Spark's DDL"),
        "The columns. Without them, CSV files are read as texts, unless inferSchema is true in options.",
        default=None,
        default_words="those of the files that are there at the start",
    )
    limit: int = setting(whole(1), "The most files of a batch.", default=1000)
    options: Mapping[str, str] = setting(
        properties(), "More options of Spark's reader, such as header: true and sep for CSV.", default={}
    )

    @property
    def has_lines(self) -> bool:
        """Whether the files are texts, whose lines may be malformed."""
        return self.format in {"csv", "json"}

    @property
    def malformed_column(self) -> str | None:
        """The column in which rows of malformed lines keep the text; None if such lines are errors."""
        name = self._option("columnNameOfCorruptRecord") or "_corrupt_record"
        is_declared = re.search(rf"(?:^|,)\s*`?{re.escape(name)}`?[\s:]", self.schema or "", re.IGNORECASE) is not None
        return name if is_declared and self._mode != "FAILFAST" else None

    def problems(self) -> Iterable[tuple[str, str]]:
        if not self.has_lines:
            return
        if self._mode not in {None, "PERMISSIVE", "FAILFAST"}:
            yield "options", f"mode {self._mode} drops malformed lines in silence; leave mode out, and they are errors"
        if self._mode == "PERMISSIVE" and self.malformed_column is None:
            column = "add the column `_corrupt_record string` to schema, which has their texts"
            yield "options", f"mode PERMISSIVE makes NULLs of malformed lines in silence; {column}, or leave mode out"

    @property
    def _mode(self) -> str | None:
        mode = self._option("mode")
        return None if mode is None else mode.upper()

    def _option(self, name: str) -> str | None:
        return next((value for key, value in self.options.items() if key.lower() == name.lower()), None)


class JdbcSource(Section):
    """The result of a query in a database, read once."""

    url: str = setting(jdbc_url(), "The database, such as jdbc:postgresql://host/db.")
    query: str = setting(text("a query"), "The query in the database's SQL.")
    properties: Mapping[str, str] = setting(
        properties(),
        "Properties of Spark's JDBC reader and the driver: user, password, driver.",
        default={},
        secret=True,
    )


class RateSource(Section):
    """Rows that Spark makes, for tests: timestamp and value."""

    rows_per_second: int = setting(whole(1), "Rows for each second.", default=1)
    rows: int | None = setting(whole(1), "The rows of a run with `available: now`.", default=None)


class DeltaTable(Section):
    """A Delta table."""

    path: str = setting(text("a folder"), "The table's folder.")


Source = KafkaSource | FilesSource | JdbcSource | RateSource
Table = FilesSource | JdbcSource | DeltaTable

#: Sources besides Kafka, by their key in `source`.
OTHER_SOURCES: Mapping[str, Any] = {
    "files": Nested(FilesSource),
    "jdbc": Nested(JdbcSource),
    "rate": Nested(RateSource),
}

SOURCE = either(OneKey(OTHER_SOURCES), Nested(KafkaSource))

#: The tables that steps name.
TABLE = OneKey({"files": Nested(FilesSource), "jdbc": Nested(JdbcSource), "delta": Nested(DeltaTable)})
