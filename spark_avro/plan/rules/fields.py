"""Rules on fields as columns: the place of the first leaf that a rule rejects, and a value with changed leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.plan.rules.cel.terms import Term, of_column
from spark_avro.plan.rules.cel.untranslatable import Untranslatable
from spark_avro.plan.rules.shapes import Choice, Entries, Field, Items, Record, Scalar, Shape, holds_selected


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf in a row.

    Attributes:
        field: The field that holds it.
        shape: Its shape.
        column: Its value, as Spark has it.
        record: The record that contains it.
    """

    field: Field
    shape: Scalar
    column: Column
    record: Term


#: Whether a leaf is rejected, never NULL itself.
Rejects = Callable[[Leaf], Column]
#: The new value of a leaf.
Changes = Callable[[Leaf], Column]


@dataclass(frozen=True, slots=True)
class FieldColumns:
    """The columns of a rule on the fields with some tags."""

    tags: frozenset[str]

    def rejected_path(self, shape: Shape, column: Column, rejects: Rejects) -> Column:
        """The path of the first leaf that is rejected, as text; NULL if there is none, or no value."""
        path = self._path(shape, column, None, None, rejects)
        return F.lit(None).cast("string") if path is None else _relative(path)

    def changed(self, shape: Shape, column: Column, changes: Changes) -> Column:
        """The value with each selected leaf changed; NULL stays NULL."""
        new = self._changed(shape, column, None, None, changes)
        return column if new is None else new

    def _holds(self, shape: Shape, holder: Field | None) -> bool:
        return holds_selected(shape, holder, self.tags)

    def _path(
        self, shape: Shape, column: Column, holder: Field | None, record: Term | None, rejects: Rejects
    ) -> Column | None:
        """The path from a value, with `.` or `[` in front; None if no leaf in it is selected."""
        if not self._holds(shape, holder):
            return None
        match shape:
            case Record():
                return self._path_in_record(shape, column, rejects)
            case Items():
                return self._first(
                    F.transform(
                        column,
                        lambda item, index: F.concat(
                            F.lit("["),
                            index.cast("string"),
                            F.lit("]"),
                            self._inner(shape.item, item, holder, record, rejects),
                        ),
                    )
                )
            case Entries():
                return self._first(
                    F.transform(
                        F.map_entries(column),
                        lambda entry: F.concat(
                            F.lit("["),
                            _quoted(entry["key"]),
                            F.lit("]"),
                            self._inner(shape.value, entry["value"], holder, record, rejects),
                        ),
                    )
                )
            case Choice():
                return self._path_in_choice(shape, column, holder, record, rejects)
        assert holder is not None
        assert record is not None
        _check_presence(holder, shape)
        rejected = rejects(Leaf(holder, shape, column, record))
        if holder.may_be_absent and not shape.nullable:
            rejected &= column.isNotNull()
        return F.when(rejected, F.lit(""))

    def _inner(
        self, shape: Shape, column: Column, holder: Field | None, record: Term | None, rejects: Rejects
    ) -> Column:
        path = self._path(shape, column, holder, record, rejects)
        assert path is not None
        return path

    def _path_in_record(self, shape: Record, column: Column, rejects: Rejects) -> Column:
        term = of_column(column, Record(shape.fields), is_certain=True)
        paths = []
        for field in shape.fields:
            path = self._path(field.shape, column.getField(field.name), field, term, rejects)
            if path is not None:
                paths.append(F.concat(F.lit(f".{field.name}"), path))
        return F.when(column.isNotNull(), F.coalesce(*paths))

    def _path_in_choice(
        self, shape: Choice, column: Column, holder: Field | None, record: Term | None, rejects: Rejects
    ) -> Column:
        if shape.nullable or not shape.branches:
            raise Untranslatable("a union of several types with null, or that Spark reads as one type")
        paths = []
        for member, branch in shape.branches:
            path = self._path(branch, column.getField(member), holder, record, rejects)
            if path is not None:
                paths.append(F.when(column.getField(member).isNotNull(), path))
        return F.coalesce(*paths)

    def _first(self, paths: Column) -> Column:
        return F.get(F.filter(paths, lambda path: path.isNotNull()), F.lit(0))

    def _changed(
        self, shape: Shape, column: Column, holder: Field | None, record: Term | None, changes: Changes
    ) -> Column | None:
        if not self._holds(shape, holder):
            return None

        def inner(part: Shape, value: Column) -> Column:
            new = self._changed(part, value, holder, record, changes)
            assert new is not None
            return new

        match shape:
            case Record():
                term = of_column(column, Record(shape.fields), is_certain=True)
                new = column
                for field in shape.fields:
                    value = self._changed(field.shape, column.getField(field.name), field, term, changes)
                    new = new if value is None else new.withField(f"`{field.name}`", value)
                return new
            case Items():
                return F.transform(column, lambda item: inner(shape.item, item))
            case Entries():
                return F.transform_values(column, lambda _, value: inner(shape.value, value))
            case Choice():
                raise Untranslatable("a change in a union of several types")
        assert holder is not None
        assert record is not None
        _check_presence(holder, shape)
        value = changes(Leaf(holder, shape, column, record))
        return F.when(column.isNotNull(), value) if holder.may_be_absent and not shape.nullable else value


def _check_presence(holder: Field, shape: Scalar) -> None:
    if holder.may_be_absent and shape.nullable:
        raise Untranslatable(f"the field {holder.name}, which may be null or absent")


def _relative(path: Column) -> Column:
    """A path without the `.` in front."""
    return F.regexp_replace(path, r"^\.", "")


def _quoted(key: Column) -> Column:
    """A key of a map in the form of JSON."""
    escaped = F.replace(F.replace(key, F.lit("\\"), F.lit("\\\\")), F.lit('"'), F.lit('\\"'))
    return F.concat(F.lit('"'), escaped, F.lit('"'))
