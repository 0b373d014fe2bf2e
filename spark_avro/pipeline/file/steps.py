"""The settings of a pipeline's steps; the steps themselves are in `spark_avro/pipeline/steps/`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta

from magicbyte.kit.settings.compound import ListOf, MapOf, OneKey, either
from magicbyte.kit.settings.kinds import Kind, choice, duration, null, ratio, text
from magicbyte.kit.settings.section import Nested, Wrapped, setting
from spark_avro.pipeline.file.field_path import FieldPath
from spark_avro.pipeline.file.kinds import ITEMS, PATHS, field_path, sql
from spark_avro.pipeline.file.section import Section
from spark_avro.pipeline.file.sql_text import Sql, SqlRole
from spark_avro.pipeline.file.synonyms import STEP_SYNONYMS

#: How long a table is used before it is read again.
DEFAULT_REFRESH = timedelta(minutes=10)


class Select(Section):
    """The columns to keep, each a path or an SQL expression with a name."""

    items: tuple[Sql, ...] = setting(ITEMS, "Columns and expressions, such as `origin.code as origin`.")


class Where(Section):
    """The rows to keep."""

    condition: Sql = setting(sql(), "Rows for which this is true are kept.")


class SqlStep(Section):
    """A query over the rows and the tables."""

    query: Sql = setting(sql(SqlRole.QUERY), "A query; `this` is the step before, and tables have their names.")


class Cast(Section):
    """Fields with another type."""

    types: Mapping[FieldPath, str] = setting(
        MapOf(text("a type of Spark SQL"), field_path(), least=1), "From path to type, such as `delay: int`."
    )


class Rename(Section):
    """Fields with another name."""

    names: Mapping[FieldPath, str] = setting(
        MapOf(text("a name"), field_path(), least=1), "From path to new name, such as `origin.code: airport`."
    )


class Drop(Section):
    """Fields to leave out."""

    paths: tuple[FieldPath, ...] = setting(PATHS, "The fields to leave out.")


class Flatten(Section):
    """Structs as columns of their own."""

    separator: str = setting(text(), "What stands between the names of the path.", default="_")
    paths: tuple[FieldPath, ...] = setting(PATHS, "The structs to flatten.", default=(), default_words="all structs")


class Explode(Section):
    """A row for each item of an array."""

    path: FieldPath = setting(field_path(), "The array.")
    name: str | None = setting(
        text("a name"), "The item's column.", "as", default=None, default_words="the array's name"
    )
    empty: str = setting(
        choice("drop", "keep"),
        "Whether a row with an empty array or NULL is dropped, or kept with NULL.",
        default="drop",
    )


_HOW = r"sha256|zero|fixed:.*|hmac:.+|keep-last-[0-9]+|/(?:[^/\\]|\\.)+/.*"


class Mask(Section):
    """Fields whose values are hidden."""

    fields: Mapping[FieldPath, str | None] = setting(
        MapOf(
            either(null(), text("sha256, hmac:KEY, keep-last-N, zero, fixed:TEXT or /REGEX/REPLACEMENT", pattern=_HOW)),
            field_path(),
            least=1,
        ),
        "From path to null, sha256, hmac:KEY (such as hmac:${file:/run/key}), keep-last-4, zero (an empty text, 0,"
        " false or the like), fixed:TEXT (for texts and numbers), or /REGEX/REPLACEMENT.",
        secret=True,
    )


class Unwrap(Section):
    """The row in a change event."""

    envelope: str = setting(
        choice("debezium"), "The envelope: the row after the change with `_op` u, or before a deletion with `_op` d."
    )


class Key(Section):
    """The fields that become the record's key, `_key`."""

    paths: tuple[FieldPath, ...] = setting(PATHS, "The fields of the key; one field is the key itself.")


class Headers(Section):
    """Headers of the record."""

    headers: Mapping[str, Sql] = setting(MapOf(sql(), least=1), "From a header's name to the expression of its value.")


class Sample(Section):
    """A share of the rows."""

    keys: float | None = setting(ratio(), "The share of keys; all records of a key are kept together.", default=None)
    rows: float | None = setting(ratio(), "The share of rows, by partition and offset.", default=None)

    def problems(self) -> Iterable[tuple[str, str]]:
        if (self.keys is None) == (self.rows is None):
            yield "", "must have keys or rows"


class Deduplicate(Section):
    """One row for each key within a time."""

    by: tuple[FieldPath, ...] = setting(PATHS, "The fields that tell rows apart.")
    within: timedelta = setting(
        duration(), "Time for which a key is remembered after its first row; also the longest delay of a row."
    )
    time: FieldPath = setting(field_path(), "The time of a row.", default=FieldPath(("_kafka", "timestamp")))


#: When the rows of groups are written: once when the watermark has passed a group, or by each batch that changes it.
_EMIT_HELP = (
    "closed: each group once, when the watermark has passed it. each-batch: each group that a batch changes; this needs"
    " a sink that upserts by the group's key."
)


class Window(Section):
    """Aggregates over windows of time."""

    time: FieldPath = setting(field_path(), "The time of a row.")
    size: timedelta | None = setting(
        duration(), "Length of a window.", default=None, default_words="none: a session has no size"
    )
    slide: timedelta | None = setting(
        duration(), "The time between the starts of two windows.", default=None, default_words="the size"
    )
    session: timedelta | None = setting(
        duration(),
        "Instead of size: a window ends when its group has had no row for so long.",
        default=None,
        default_words="windows have a size",
    )
    late: timedelta = setting(duration(), "Longest delay of a row.", default=timedelta(0))
    group: tuple[Sql, ...] = setting(
        ListOf(sql(SqlRole.ITEM), or_one=True), "What rows are grouped by besides the window.", default=()
    )
    aggregate: tuple[Sql, ...] = setting(ITEMS, "Aggregates, such as `count(*) as flights`.")
    emit: str = setting(choice("closed", "each-batch"), _EMIT_HELP, default="closed")

    def problems(self) -> Iterable[tuple[str, str]]:
        if (self.size is None) == (self.session is None):
            yield "", "must have size or session"
        if self.session is not None and self.slide is not None:
            yield "slide", "is for windows with a size"
        if self.size is not None and self.slide is not None and self.slide > self.size:
            yield "slide", "must not be longer than size, or rows between two windows would be lost"
        if self.session is not None and self.emit == "each-batch":
            yield "emit", "each-batch is not possible for sessions: two sessions may become one"


class Aggregate(Section):
    """Aggregates over all rows of a group, written by each batch that changes them."""

    group: tuple[Sql, ...] = setting(ListOf(sql(SqlRole.ITEM), least=1, or_one=True), "What rows are grouped by.")
    aggregate: tuple[Sql, ...] = setting(ITEMS, "Aggregates, such as `sum(amount) as balance`.")
    emit: str = setting(
        choice("each-batch"), "A group without a window is never closed, so there is one choice.", default="each-batch"
    )


class Join(Section):
    """Columns of a table, of the records of another stream, or of the newest values of a compacted topic."""

    table: str | None = setting(text("a table's name"), "A name in `tables`.", default=None)
    stream: str | None = setting(text("a stream's name"), "Instead of table: a name in `streams`.", default=None)
    topic: str | None = setting(
        text("a stream's name"),
        "Instead of table: a name in `streams`, whose topic is read as a table. It has the newest value of each key.",
        default=None,
    )
    condition: Sql | tuple[FieldPath, ...] = setting(
        either(ListOf(field_path(), least=1), sql()),
        "Columns that both have, or a condition over `this` and the name of the table or stream; for a topic the"
        " fields that its key is equal to.",
        "on",
    )
    how: str = setting(
        choice("inner", "left", "right", "full", "semi"),
        "Which rows are kept without a match: none, those of the pipeline (left), of the stream (right) or both (full);"
        " semi keeps rows with a match, without new columns. A table and a topic take inner and left.",
        default="inner",
    )
    refresh: timedelta = setting(
        duration(), "Time for which a table is used before it is read again.", default=DEFAULT_REFRESH
    )
    within: timedelta | None = setting(duration(), "Longest time between two rows of streams that match.", default=None)
    time: FieldPath = setting(
        field_path(), "The time of the pipeline's rows, for streams.", default=FieldPath(("_kafka", "timestamp"))
    )
    stream_time: FieldPath = setting(
        field_path(), "The time of the stream's rows.", default=FieldPath(("_kafka", "timestamp"))
    )
    late: timedelta = setting(duration(), "Longest delay of a row of a stream.", default=timedelta(0))
    wait: timedelta | None = setting(
        duration(),
        "Longest wait of a row for its key, if the topic has no value of it yet.",
        default=None,
        default_words="rows do not wait",
    )

    def problems(self) -> Iterable[tuple[str, str]]:
        if sum(name is not None for name in (self.table, self.stream, self.topic)) != 1:
            yield "", "must have one of table, stream and topic"
            return
        if self.stream is not None and self.within is None:
            yield "", "within is missing: without it, the rows of both streams are kept for ever"
        if self.stream is None and self.how not in {"inner", "left"}:
            kind = "table" if self.topic is None else "topic"
            yield "how", f"{self.how} is for streams; a {kind} takes inner or left"
        if self.topic is not None and isinstance(self.condition, Sql):
            yield "on", "must be a list of the fields that the topic's key is equal to; compute them in a step before"
        of_kinds = {"stream": ("within", "time", "stream-time", "late"), "table": ("refresh",), "topic": ("wait",)}
        for kind, names in of_kinds.items():
            for name in names if getattr(self, kind) is None else ():
                if name in self.origin.places:
                    yield name, f"is for joins with a {kind}"

    @property
    def other(self) -> str:
        """The name of the table, stream or topic."""
        return self.table or self.stream or self.topic or ""

    @property
    def reads(self) -> str | None:
        """The name in `streams` whose records the step reads; None for a table."""
        return self.stream or self.topic


class Python(Section):
    """A function of an installed module, from DataFrame to DataFrame."""

    function: str = setting(
        text("module:function", pattern=r"[A-Za-z_][\w.]*:[A-Za-z_]\w*"), "The function, as module:function."
    )


Step = (
    Select
    | Where
    | SqlStep
    | Cast
    | Rename
    | Drop
    | Flatten
    | Explode
    | Mask
    | Unwrap
    | Key
    | Headers
    | Sample
    | Deduplicate
    | Window
    | Aggregate
    | Join
    | Python
)


def remembers(step: Step) -> bool:
    """Whether a step remembers rows between batches, so that Spark keeps state for it."""
    return isinstance(step, Deduplicate | Window | Aggregate) or (isinstance(step, Join) and step.reads is not None)


def joins_topic(step: Step) -> bool:
    """Whether a step joins a compacted topic as a table."""
    return isinstance(step, Join) and step.topic is not None


#: The steps by their names in the file.
STEPS: Mapping[str, Kind] = {
    "select": Wrapped(Select),
    "where": Wrapped(Where),
    "sql": Wrapped(SqlStep),
    "cast": Wrapped(Cast),
    "rename": Wrapped(Rename),
    "drop": Wrapped(Drop),
    "flatten": Nested(Flatten),
    "explode": Nested(Explode, short="path"),
    "mask": Wrapped(Mask),
    "unwrap": Wrapped(Unwrap),
    "key": Wrapped(Key),
    "headers": Wrapped(Headers),
    "sample": Nested(Sample),
    "deduplicate": Nested(Deduplicate),
    "window": Nested(Window),
    "aggregate": Nested(Aggregate),
    "join": Nested(Join),
    "python": Wrapped(Python),
}

STEP = OneKey(STEPS, STEP_SYNONYMS)
