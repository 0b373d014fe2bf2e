"""The tables beside a table with upserts: its deleted keys, or its keys with the places of their records."""

# ruff: noqa: S608  # names are quoted, and there are no values
from __future__ import annotations

import sqlalchemy as sa

from spark_avro.pipeline.sinks.columns import ColumnFit
from spark_avro.pipeline.sinks.newest import DELETED_KEYS, KEY_PLACES
from spark_avro.pipeline.sinks.sql.statements import DELETED, Table, names, quoted


def side_table_name(name: str, schema: str | None, suffix: str) -> str:
    """The quoted name of a table for keys beside a table."""
    return ".".join(quoted(part) for part in (schema, f"{name}{suffix}") if part)


def key_table_statements(
    table: Table, fit: ColumnFit, bind: sa.Connection | None, name: str, schema: str | None, *, is_new: bool
) -> tuple[str, ...]:
    """The statements that create or change the tables of keys beside a table.

    Args:
        table: The table.
        fit: The columns of the rows; its changes are made before these statements.
        bind: A connection; None if there is no database yet.
        name: The table's name.
        schema: Its schema; None for the usual one.
        is_new: Whether the table is created.
    """
    inspector = None if bind is None else sa.inspect(bind)

    def columns_of(suffix: str) -> list[str] | None:
        if inspector is None or not inspector.has_table(f"{name}{suffix}", schema):
            return None
        return [str(column["name"]) for column in inspector.get_columns(f"{name}{suffix}", schema)]

    places = columns_of(KEY_PLACES)
    if table.key_places:
        if places is None:
            return (table.create_key_places(),)
        if is_new:
            # It was of a table that was dropped.
            return (f"DROP TABLE {table.key_places}", table.create_key_places())
        added = [column for column in table.place_columns if column not in places]
        add = [
            f"ALTER TABLE {table.key_places} ADD COLUMN {quoted(column)} {table.place_columns[column]}"
            for column in added
        ]
        return (*_widened(table.key_places, table.place_columns, fit), *add)
    statements: list[str] = []
    if table.deletes and columns_of(DELETED_KEYS) is None:
        statements.append(table.create_deleted_keys())
    elif table.deletes:
        statements += _widened(table.deleted_keys, table.deleted_columns, fit)
    if places is not None and not is_new and table.is_by_offset:
        statements += _moved_into(table, side_table_name(name, schema, KEY_PLACES), has_deleted=DELETED in places)
    return tuple(statements)


def _widened(name: str, columns: dict[str, str], fit: ColumnFit) -> list[str]:
    return [
        f"ALTER TABLE {name} ALTER COLUMN {quoted(change.path)} TYPE {columns[change.path]}"
        for change in fit.changes
        if change.old is not None and change.path in columns
    ]


def _moved_into(table: Table, places: str, *, has_deleted: bool) -> list[str]:
    """The statements that move the places into the columns that the table now has, because the file asks for them."""
    same = " AND ".join(f"{places}.{quoted(key)} = {table.name}.{quoted(key)}" for key in table.key)
    of_places = [name for name in table.deleted_columns if name not in table.key]
    changes = ", ".join(f"{quoted(name)} = (SELECT {quoted(name)} FROM {places} WHERE {same})" for name in of_places)
    statements = [f"UPDATE {table.name} SET {changes} WHERE EXISTS (SELECT 1 FROM {places} WHERE {same})"]
    if table.deletes and has_deleted:
        columns = names(table.deleted_columns)
        statements.append(
            f"INSERT INTO {table.deleted_keys} ({columns}) SELECT {columns} FROM {places} WHERE {DELETED}"
            f" ON CONFLICT ({names(table.key)}) DO NOTHING"
        )
    return [*statements, f"DROP TABLE {places}"]
