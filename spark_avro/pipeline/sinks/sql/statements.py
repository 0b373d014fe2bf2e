"""The SQL of a table: its definition, and how a stage of new rows goes into it."""

# ruff: noqa: S608  # names are quoted, and there are no values
from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from spark_avro.pipeline.ports import POSITION
from spark_avro.pipeline.sinks.newest import (
    CLOCK,
    ORDER_FIELDS,
    FieldName,
    is_earlier_clock,
    is_newer,
    last_query,
    newest_query,
)

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
        deleted_keys: The quoted name of the table of deleted keys, if the rows have DELETED: a key with the place of
            the record that deleted it, so that an older record which is read later does not bring it back.
        key_places: The quoted name of the table of keys with the places of their records, if the table itself has no
            columns for them. It has the deleted keys, too.
        places: The columns of these places with their SQL types.
    """

    name: str
    columns: dict[str, str]
    key: tuple[str, ...] = ()
    order: str | None = None
    is_by_offset: bool = False
    deletes: bool = False
    deleted_keys: str = ""
    key_places: str = ""
    places: dict[str, str] = field(default_factory=dict)

    def create(self) -> str:
        """The statement that creates the table."""
        return self._create(self.name, self.columns)

    def create_key_places(self) -> str:
        """The statement that creates the table of keys with the places of their records."""
        return self._create(self.key_places, self.place_columns)

    @property
    def place_columns(self) -> dict[str, str]:
        """The columns of that table with their SQL types."""
        return self.deleted_columns | ({DELETED: "boolean"} if self.deletes else {})

    @property
    def _staged(self) -> dict[str, str]:
        return self.columns | self.places

    def create_deleted_keys(self) -> str:
        """The statement that creates the table of deleted keys."""
        return self._create(self.deleted_keys, self.deleted_columns)

    @property
    def deleted_columns(self) -> dict[str, str]:
        """The columns of deleted keys with their SQL types: the key and what decides which row is newer."""
        assert self.order is not None
        places = [f"{POSITION}_{name}" for name in ORDER_FIELDS] if self.is_by_offset else [self.order]
        return {name: self._staged[name] for name in dict.fromkeys((*self.key, *places))}

    def _create(self, table: str, columns: dict[str, str]) -> str:
        parts = [f"{quoted(name)} {kind}" for name, kind in columns.items()]
        if self.key:
            parts.append(f"PRIMARY KEY ({names(self.key)})")
        return f"CREATE TABLE {table} ({', '.join(parts)})"

    def create_stage(self) -> str:
        """The statement that creates the temporary table; it lasts until the transaction ends."""
        parts = [f"{quoted(name)} {kind}" for name, kind in self._staged.items()]
        if self.deletes:
            parts.append(f"{DELETED} boolean")
        return f"CREATE TEMPORARY TABLE {STAGE} ({', '.join(parts)})"

    def merge(self, replaced: Collection[str] = ()) -> list[str]:
        """The statements that bring the newest staged row of each key into the table, unless its row is newer.

        Args:
            replaced: Topics of the source that were deleted and made again.
        """
        if self.key_places:
            return self._merge_by_key_places(replaced)
        tables = (self.name, self.deleted_keys) if self.deletes else (self.name,)
        clocks = [self._clock(table, replaced) for table in tables] if self.is_by_offset else []
        if not self.deletes:
            return [*clocks, self._upsert(self.name, self.columns, "true", replaced)]
        newest, deleted = f"({self._newest()}) AS new_", self.deleted_keys
        delete = (
            f"DELETE FROM {self.name} WHERE EXISTS (SELECT 1 FROM {newest} WHERE {DELETED} AND {self._same(self.name)}"
            f" AND {self._newer('new_', self.name, replaced)})"
        )
        note = self._upsert(deleted, self.deleted_columns, DELETED, replaced)
        was_deleted = f"SELECT 1 FROM {deleted} WHERE {self._same(deleted)}"
        is_old = f"EXISTS ({was_deleted} AND NOT {self._newer('new_', deleted, replaced)})"
        insert = self._upsert(self.name, self.columns, f"NOT {DELETED} AND NOT {is_old}", replaced)
        # The row that a key has again is newer than its deletion, and is now what older records are compared with.
        forget = (
            f"DELETE FROM {deleted} WHERE EXISTS (SELECT 1 FROM {newest} WHERE NOT {DELETED} AND {self._same(deleted)}"
            f" AND {self._newer('new_', deleted, replaced)})"
        )
        return [*clocks, delete, note, insert, forget]

    def _merge_by_key_places(self, replaced: Collection[str]) -> list[str]:
        """The merge for a table whose rows have no places: a table of its own has those of the keys.

        The places are written first. Then the rows that are chosen are those whose place is the one beside, or that the
        table beside does not know to be older. A place without a row counts only if it deleted the key: otherwise
        somebody else deleted the row.
        """
        beside = self.key_places
        clocks = [self._clock(beside, replaced)] if self.is_by_offset else []
        row = f"EXISTS (SELECT 1 FROM {self.name} WHERE {self._same(self.name)})"
        counts = f"({beside}.{DELETED} OR {row})" if self.deletes else row
        is_old = (
            f"EXISTS (SELECT 1 FROM {beside} WHERE {self._same(beside)} AND {counts}"
            f" AND NOT coalesce({self._newer('new_', beside, replaced)}, false))"
        )
        note = self._replace(beside, self.place_columns, f"NOT {is_old}")
        if not self.deletes:
            return [*clocks, note, self._replace(self.name, self.columns, f"NOT {is_old}")]
        delete = (
            f"DELETE FROM {self.name} WHERE EXISTS (SELECT 1 FROM ({self._newest()}) AS new_ WHERE {DELETED}"
            f" AND {self._same(self.name)} AND NOT {is_old})"
        )
        return [*clocks, note, delete, self._replace(self.name, self.columns, f"NOT {DELETED} AND NOT {is_old}")]

    def _replace(self, table: str, columns: dict[str, str], chosen: str) -> str:
        """The statement that brings the newest staged rows that a condition chooses into a table, whatever it has."""
        changes = ", ".join(f"{quoted(name)} = excluded.{quoted(name)}" for name in columns if name not in self.key)
        return (
            f"INSERT INTO {table} ({names(columns)}) SELECT {names(columns)} FROM ({self._newest()}) AS new_"
            f" WHERE {chosen} ON CONFLICT ({names(self.key)}) DO {f'UPDATE SET {changes}' if changes else 'NOTHING'}"
        )

    def _clock(self, table: str, replaced: Collection[str]) -> str:
        """The statement that takes clocks of staged rows from older rows of a table."""
        time = quoted(f"{POSITION}_timestamp")
        is_older = is_earlier_clock(_place(f"{STAGE}."), _place("old_."), replaced)
        same = " AND ".join(f"{STAGE}.{quoted(name)} = old_.{quoted(name)}" for name in self.key)
        older = f"FROM {table} AS old_ WHERE {same} AND {is_older}"
        return f"UPDATE {STAGE} SET {time} = (SELECT old_.{time} {older}) WHERE EXISTS (SELECT 1 {older})"

    def _upsert(self, table: str, columns: dict[str, str], chosen: str, replaced: Collection[str]) -> str:
        """The statement that brings the newest staged rows that a condition chooses into a table with the key."""
        changes = ", ".join(f"{quoted(name)} = excluded.{quoted(name)}" for name in columns if name not in self.key)
        action = f"UPDATE SET {changes} WHERE {self._newer('excluded', table, replaced)}" if changes else "NOTHING"
        return (
            f"INSERT INTO {table} ({names(columns)}) SELECT {names(columns)} FROM ({self._newest()}) AS new_"
            f" WHERE {chosen} ON CONFLICT ({names(self.key)}) DO {action}"
        )

    def _same(self, table: str) -> str:
        return " AND ".join(f"new_.{quoted(name)} = {table}.{quoted(name)}" for name in self.key)

    def _newest(self) -> str:
        assert self.order is not None
        if self.is_by_offset:
            key, time = names(self.key), f"{POSITION}_timestamp"
            newest = newest_query(f"({last_query(STAGE, key, _place(''))})", key, _place(""))
            columns = [f"{CLOCK} AS {quoted(name)}" if name == time else quoted(name) for name in self._staged]
            columns += [DELETED] if self.deletes else []
            return f"SELECT {', '.join(columns)} FROM ({newest}) AS clocked_"
        return (
            f"SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY {names(self.key)} ORDER BY {quoted(self.order)}"
            f" DESC) AS newest_ FROM {STAGE}) AS ranked_ WHERE newest_ = 1"
        )

    def _newer(self, new: str, table: str, replaced: Collection[str]) -> str:
        assert self.order is not None
        if self.is_by_offset:
            return is_newer(_place(f"{new}."), _place(f"{table}."), replaced)
        order = quoted(self.order)
        return f"({table}.{order} IS NULL OR {new}.{order} >= {table}.{order})"


def _place(table: str) -> FieldName:
    return lambda name: f"{table}{quoted(f'{POSITION}_{name}')}"


def quoted(name: str) -> str:
    """A name in quotes."""
    return '"' + name.replace('"', '""') + '"'


def names(columns: Sequence[str] | dict[str, str]) -> str:
    """A list of names in quotes."""
    return ", ".join(map(quoted, columns))
