"""The policies for new versions, for errors, and for rows that fail a check."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from magicbyte.kit.settings.compound import ListOf, MapOf, either
from magicbyte.kit.settings.kinds import Scalar, choice, duration, flag, matching, ratio, text, whole
from magicbyte.kit.settings.section import Nested, setting
from spark_avro.pipeline.file.field_path import FieldPath
from spark_avro.pipeline.file.kinds import PATHS, field_path, sql
from spark_avro.pipeline.file.section import Section
from spark_avro.pipeline.file.sql_text import Sql


class Pin(Section):
    """A version to read records as."""

    pin: int = setting(whole(1), "The version of the subject that all records are read as.")


class Evolve(Section):
    """The reactions to changes of schemas while the pipeline runs."""

    new_version: str | Pin = setting(
        either(choice("refresh", "fail", "dead-letter"), Nested(Pin, label="{pin: N}")),
        "A record of a newer version of the subject: read with a new plan, stop, dead letter, or read as version N.",
        default="refresh",
    )
    unreadable: str = setting(
        choice("fail", "dead-letter"),
        "A record of a version that the reader cannot resolve, or of another subject.",
        default="fail",
    )
    columns: str = setting(choice("add", "ignore", "fail"), "A column that the target does not have.", default="add")


class Retry(Section):
    """The retries of transient errors: timeouts, deadlocks, a change of leader."""

    total: timedelta = setting(duration(), "The time after which retries end.", "for", default=timedelta(seconds=60))
    max_delay: timedelta = setting(duration(), "The longest pause between two tries.", default=timedelta(seconds=10))


@dataclass(frozen=True, slots=True)
class PerHour:
    """A number of rows for each hour."""

    rows: int


def _per_hour() -> Scalar:
    return matching("a number such as `100 per hour`", "([0-9]+) per hour", lambda match: PerHour(int(match[1])))


class Errors(Section):
    """The handling of records that cannot be processed."""

    tolerance: str = setting(
        choice("none", "all"), "none stops at the first such record; all sends them to the topic.", default="none"
    )
    topic: str | None = setting(
        text("a topic", pattern=r"[A-Za-z0-9._-]{1,249}"), "The topic of dead letters.", default=None
    )
    retry: Retry = setting(Nested(Retry), "Retries of errors that may pass.", default=Retry())
    at_most: float | PerHour | None = setting(
        either(ratio(), _per_hour()),
        "The share of a batch's rows, or the number per hour, from which the pipeline stops before it writes.",
        default=None,
    )
    headers: str = setting(
        choice("connect", "streams", "spring"), "The names of the headers that say what failed.", default="connect"
    )
    mask: bool = setting(
        flag(), "Whether letters have the reason and place alone, without key and value.", default=False
    )
    log: int = setting(whole(), "Maximum number of errors of a batch that are logged.", default=5)

    def problems(self) -> Iterable[tuple[str, str]]:
        if self.tolerance == "all" and self.topic is None:
            yield "tolerance", "all needs errors.topic, the topic of dead letters"


class Unique(Section):
    """One row for each key."""

    key: tuple[FieldPath, ...] = setting(PATHS, "The fields of the key.")
    within: timedelta | None = setting(
        duration(), "Time for which a key is remembered.", default=None, default_words="the batch"
    )


class Fresh(Section):
    """Rows that are not old."""

    time: FieldPath = setting(field_path(), "The time of a row.")
    within: timedelta = setting(duration(), "The greatest age.")


class Volume(Section):
    """The number of rows in a time."""

    per: str = setting(choice("batch", "hour", "day"), "The time.", default="hour")
    between: tuple[int, ...] = setting(ListOf(whole(), least=2), "The least and the greatest number.")


class SchemaOnly(Section):
    """Records of some schemas only."""

    ids: tuple[int, ...] = setting(ListOf(whole(1), least=1, or_one=True), "The schema ids.")


#: The least and the greatest value.
_BOUNDS = 2


def _value() -> Scalar:
    return Scalar("a value", {}, lambda value: value, (str, int, float, bool))


class Check(Section):
    """A check of each row."""

    name: str = setting(text("a name", pattern=r"[^\x00-\x1f]{1,100}"), "The check's name in counters and letters.")
    expect: Sql | None = setting(sql(), "What must be true; NULL counts as failed.", default=None)
    not_null: tuple[FieldPath, ...] | None = setting(PATHS, "Fields that must not be NULL.", default=None)
    unique: Unique | None = setting(Nested(Unique, short="key"), "Fields that tell rows apart.", default=None)
    values: Mapping[FieldPath, tuple[Any, ...]] | None = setting(
        MapOf(ListOf(_value(), least=1), field_path(), least=1), "The values that fields may have.", "in", default=None
    )
    range: Mapping[FieldPath, tuple[Any, ...]] | None = setting(
        MapOf(ListOf(_value(), least=2), field_path(), least=1),
        "The least and the greatest value of fields.",
        default=None,
    )
    fresh: Fresh | None = setting(Nested(Fresh), "Greatest age of rows.", default=None)
    volume: Volume | None = setting(Nested(Volume), "Required number of rows.", default=None)
    schema_only: SchemaOnly | None = setting(Nested(SchemaOnly, short="ids"), "The schemas of records.", default=None)
    otherwise: str = setting(
        choice("warn", "drop", "dead-letter", "fail"), "What happens to rows that fail.", "else", default="warn"
    )
    at_most: float | None = setting(
        ratio(), "The share of failed rows from which the run exits with 100.", default=None
    )
    by: tuple[FieldPath, ...] = setting(
        ListOf(field_path(), or_one=True), "Columns by which failures are counted.", default=()
    )

    @property
    def remembered_for(self) -> timedelta | None:
        """The time for which the check remembers keys between batches; None if it remembers none."""
        return self.unique.within if self.unique is not None else None

    def problems(self) -> Iterable[tuple[str, str]]:
        kinds = ("expect", "not-null", "unique", "in", "range", "fresh", "volume", "schema-only")
        chosen = [name for name in kinds if name in self.origin.places]
        if len(chosen) != 1:
            yield chosen[1] if chosen else "", f"must have one of {', '.join(kinds)}"
        if self.volume is not None and self.otherwise not in {"warn", "fail"}:
            yield "else", f"must be warn or fail: volume concerns no single row, so none can be {self.otherwise}"
        for path, bounds in (self.range or {}).items():
            if len(bounds) != _BOUNDS:
                yield "range", f"{path} must have two values, the least and the greatest"
        if self.volume is not None and len(self.volume.between) != _BOUNDS:
            yield "volume", "between must have two values, the least and the greatest"
