"""The SQL of a table: its definition, and how a stage of new rows goes into it."""

# ruff: noqa: S608  # names are quoted, and there are no values
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
        deletes: Whether the rows have DELETED.
    """

    name: str
    columns: dict[str, str]
    key: tuple[str, ...] = ()
    order: str | None = None
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

    def merge(self) -> list[str]:
        """The statements that bring the newest staged row of each key into the table, unless its row is newer."""
        assert self.order is not None
        order = quoted(self.order)
        newest = (
            f"(SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY {names(self.key)} ORDER BY {order} DESC)"
            f" AS newest_ FROM {STAGE}) AS ranked_ WHERE newest_ = 1)"
        )
        others = [name for name in self.columns if name not in self.key]
        changes = ", ".join(f"{quoted(name)} = excluded.{quoted(name)}" for name in others)
        is_newer = f"{self.name}.{order} IS NULL OR excluded.{order} >= {self.name}.{order}"
        action = f"UPDATE SET {changes} WHERE {is_newer}" if changes else "NOTHING"
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
            f" AND ({self.name}.{order} IS NULL OR new_.{order} >= {self.name}.{order}))"
        )
        return [delete, insert]


def quoted(name: str) -> str:
    """A name in quotes."""
    return '"' + name.replace('"', '""') + '"'


def names(columns: Sequence[str] | dict[str, str]) -> str:
    """A list of names in quotes."""
    return ", ".join(map(quoted, columns))
