"""Writes data with one schema and reads them with another, using fastavro."""

from __future__ import annotations

import io
import json
from functools import lru_cache
from typing import Any, NamedTuple

from compat.avro.schema import AvroSchema
from compat.avro.witness.data import Route, Sizes, datum, to_json
from compat.budget import Budget, TooMuchWork
from compat.difference import Witness

#: The longest schema text for fastavro, with all references included, and how many characters take a step.
_LONGEST_SCHEMA = 500_000
_CHARACTERS_A_STEP = 40
#: The steps to try a datum. If nothing fits, fastavro's time grows with the square of the schema's length.
_STEPS_A_TRY = 30
_SQUARE_A_STEP = 12_500
#: The longest text of a reader's value to show.
_LONGEST_SHOWN = 80

REFUSED = "The reader refuses it."


class Trial:
    """Writes data with one schema and reads them with another, using fastavro."""

    def __init__(self, reader: AvroSchema, writer: AvroSchema, budget: Budget) -> None:
        """Prepare the two schemas for fastavro.

        Raises:
            TooMuchWork: They are too long.
        """
        self._root = writer.root
        self._budget = budget
        self._steps = _STEPS_A_TRY + (len(reader.resolved) + len(writer.resolved)) ** 2 // _SQUARE_A_STEP
        self._writer, self._reader = fastavro_schema(writer, budget), fastavro_schema(reader, budget)

    def refused(self, route: Route, sizes: Sizes) -> Witness | None:
        """The smallest datum along a route, if the reader refuses it.

        Raises:
            TooMuchWork: The datum is too large, or the budget is used up.
        """
        written = self._write(route, sizes)
        if written is None or self._read(written) is not _REFUSED:
            return None
        return Witness(REFUSED, to_json(self._root, written.datum), written.data)

    def changed(self, route: Route, sizes: Sizes) -> Witness | None:
        """The smallest datum along a route, if the reader refuses it or reads another value.

        Raises:
            TooMuchWork: The datum is too large, or the budget is used up.
        """
        written = self._write(route, sizes)
        if written is None:
            return None
        read = self._read(written)
        if read == written.read:
            return None
        told = REFUSED if read is _REFUSED else f"The reader reads {_shown(read)}."
        return Witness(told, to_json(self._root, written.datum), written.data)

    def written(self, route: Route, sizes: Sizes, effect: str) -> Witness | None:
        """The smallest datum along a route, with what readers make of it; None if fastavro does not write it.

        Raises:
            TooMuchWork: The datum is too large, or the budget is used up.
        """
        written = self._write(route, sizes)
        return None if written is None else Witness(effect, to_json(self._root, written.datum), written.data)

    def _write(self, route: Route, sizes: Sizes) -> _Written | None:
        from fastavro import schemaless_reader, schemaless_writer  # noqa: PLC0415 - only for those who ask for data

        self._budget.spend(self._steps)
        value = datum(self._root, route, sizes)
        written = io.BytesIO()
        try:
            schemaless_writer(written, self._writer, value)
            read = schemaless_reader(io.BytesIO(written.getvalue()), self._writer)
        except Exception:  # noqa: BLE001 - fastavro raises anything for a schema that it does not know
            return None
        return _Written(value, written.getvalue(), read)

    def _read(self, written: _Written) -> Any:
        from fastavro import schemaless_reader  # noqa: PLC0415 - as above

        try:
            return schemaless_reader(io.BytesIO(written.data), self._writer, self._reader)
        except Exception:  # noqa: BLE001 - as above
            return _REFUSED


class _Written(NamedTuple):
    """A datum, its encoding, and the value that the writer's own schema reads from it."""

    datum: Any
    data: bytes
    read: Any


_REFUSED = object()


def _shown(value: Any) -> str:
    text = json.dumps(value, default=lambda inner: inner.decode("latin-1"))
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


@lru_cache(maxsize=8)
def _spelled_out(schema: AvroSchema) -> Any:
    from fastavro import parse_schema  # noqa: PLC0415 - only for those who ask for data

    # Logical types only convert to Python's types; compatibility does not depend on them.
    value = json.loads(schema.resolved, object_hook=_without_logical_type)
    parsed = parse_schema(value)
    _qualify_aliases(parsed)
    return parsed


def _qualify_aliases(parsed: Any) -> None:
    """Add the namespace to aliases: fastavro would match an alias without one in any namespace."""
    todo, seen = [parsed], set[int]()
    while todo:
        value = todo.pop()
        if id(value) in seen or not isinstance(value, dict | list):
            continue
        seen.add(id(value))
        if isinstance(value, list):
            todo += value
            continue
        todo += value.values()
        space = value["name"].rpartition(".")[0] if value.get("type") in _NAMED and "aliases" in value else ""
        if space:
            value["aliases"] = [alias if "." in alias else f"{space}.{alias}" for alias in value["aliases"]]


_NAMED = ("record", "error", "enum", "fixed")


def _without_logical_type(value: dict[str, Any]) -> dict[str, Any]:
    value.pop("logicalType", None)
    return value


def fastavro_schema(schema: AvroSchema, budget: Budget) -> Any:
    """A schema in the form that fastavro uses.

    Raises:
        TooMuchWork: It is too long, or fastavro cannot read it.
    """
    length = len(schema.resolved)
    budget.spend(length // _CHARACTERS_A_STEP)
    if length > _LONGEST_SCHEMA:
        raise TooMuchWork("The schema is too long")
    try:
        return _spelled_out(schema)
    except Exception as error:  # noqa: BLE001 - fastavro raises anything for a schema that it does not know
        raise TooMuchWork(f"fastavro does not read the schema: {error}") from None
