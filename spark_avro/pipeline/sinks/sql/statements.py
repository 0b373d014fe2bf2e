"""The SQL of a table: its definition, and how a stage of new rows goes into it."""

# ruff: noqa: S608  # names are quoted, and there are no values
from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from spark_avro.pipeline.ports import POSITION
from spark_avro.pipeline.sinks.newest import FieldName, is_newer, newest_query

#: The temporary table of an upsert's rows, and its column for rows that delete their key.
STAGE = "magicbyte_stage"
DELETED = "_deleted_"


@dataclass(frozen=True, slots=True)
class Table:
    """A table as a batch is written to it.

    Attributes:
        name: The quoted name, with the schema if one is given.
        columns: Column name -> SQL type, in the order of the rows.
        key: The columns of the key for an upsert; none to append.
        order: The column that decides which row is newer.
        is_by_offset: Whether it is the offset in Kafka, which orders only the records of one partition.
        deletes: Whether the rows have DELETED.
    """

    name: str
    columns: dict[str, str]
    key: tuple[str, ...] = ()
    order: str | None = None
    is_by_offset: bool = False
    deletes: bool = False

    def create(self) -> str:
        """The statement that creates the table."""
        parts = [f"{quoted(name)} {kind}" for name, kind in self.columns.items()]
        if self.key:
            parts.append(f"PRIMARY KEY ({names(self.key)})")
        return f"CREATE TABLE {self.name} ({', '.join(parts)})"

    def create_stage(self) -> str:
        """The statement that creates the temporary table; it lasts until the transaction ends."""
        parts = [f"{quoted(name)} {kind}" for name, kind in self.columns.items()]
        if self.deletes:
            parts.append(f"{DELETED} boolean")
        return f"CREATE TEMPORARY TABLE {STAGE} ({', '.join(parts)})"

    def merge(self, replaced: Collection[str] = ()) -> list[str]:
        """The statements that bring the newest staged row of each key into the table, unless its row is newer.

        Args:
            replaced: Topics of the source that were deleted and made again.
        """
        newest = f"({self._newest()})"
        others = [name for name in self.columns if name not in self.key]
        changes = ", ".join(f"{quoted(name)} = excluded.{quoted(name)}" for name in others)
        action = f"UPDATE SET {changes} WHERE {self._newer('excluded', replaced)}" if changes else "NOTHING"
        kept = f"NOT {DELETED}" if self.deletes else "true"
        insert = (
            f"INSERT INTO {self.name} ({names(self.columns)}) SELECT {names(self.columns)} FROM {newest} AS new_"
            f" WHERE {kept} ON CONFLICT ({names(self.key)}) DO {action}"
        )
        if not self.deletes:
            return [insert]
        same = " AND ".join(f"new_.{quoted(name)} = {self.name}.{quoted(name)}" for name in self.key)
        delete = (
            f"DELETE FROM {self.name} WHERE EXISTS (SELECT 1 FROM {newest} AS new_ WHERE {DELETED} AND {same}"
            f" AND {self._newer('new_', replaced)})"
        )
        return [delete, insert]

    def _newest(self) -> str:
        assert self.order is not None
        if self.is_by_offset:
            return newest_query(STAGE, names(self.key), _place(""))
        return (
            f"SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY {names(self.key)} ORDER BY {quoted(self.order)}"
            f" DESC) AS newest_ FROM {STAGE}) AS ranked_ WHERE newest_ = 1"
        )

    def _newer(self, new: str, replaced: Collection[str]) -> str:
        assert self.order is not None
        if self.is_by_offset:
            return is_newer(_place(f"{new}."), _place(f"{self.name}."), replaced)
        order = quoted(self.order)
        return f"({self.name}.{order} IS NULL OR {new}.{order} >= {self.name}.{order})"


def _place(table: str) -> FieldName:
    return lambda name: f"{table}{quoted(f'{POSITION}_{name}')}"


def quoted(name: str) -> str:
    """A name in quotes."""
    return '"' + name.replace('"', '""') + '"'


def names(columns: Sequence[str] | dict[str, str]) -> str:
    """A list of names in quotes."""
    return ", ".join(map(quoted, columns))
