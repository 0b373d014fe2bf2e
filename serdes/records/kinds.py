"""The Python types of Avro's types in generated records, and the unions whose branches they do not tell apart."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, time
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from serdes.records.values import Duration

#: Python's type of an Avro type with a logical type. Nanoseconds and decimals without a scale stay as they are stored.
LOGICAL: dict[tuple[str, str], type] = {
    ("int", "date"): date,
    ("int", "time-millis"): time,
    ("long", "time-micros"): time,
    ("long", "timestamp-millis"): datetime,
    ("long", "timestamp-micros"): datetime,
    ("long", "local-timestamp-millis"): datetime,
    ("long", "local-timestamp-micros"): datetime,
    ("bytes", "decimal"): Decimal,
    ("fixed", "decimal"): Decimal,
    ("string", "uuid"): UUID,
    ("fixed", "uuid"): UUID,
    ("fixed", "duration"): Duration,
}
#: Python's type of a primitive or a container.
PLAIN: dict[str, type] = {
    "null": type(None),
    "boolean": bool,
    "int": int,
    "long": int,
    "float": float,
    "double": float,
    "string": str,
    "bytes": bytes,
    "array": list,
    "map": dict,
}


class Kind(NamedTuple):
    """An Avro type: its type, its valid logical type if it has one, and the full name of a named type."""

    avro: str
    meaning: str | None = None
    name: str | None = None

    @property
    def python(self) -> type | None:
        """Python's type; None for a class of its own."""
        if self.meaning is not None and (self.avro, self.meaning) in LOGICAL:
            return LOGICAL[self.avro, self.meaning]
        return PLAIN.get(self.avro)

    @property
    def branch(self) -> str:
        """The name of a union's branch of this type."""
        return self.name or self.avro


def wrapped(branches: Iterable[Kind]) -> frozenset[str]:
    """The names of a union's branches whose values need a `Branch`: another branch has the same Python type.

    An enumeration's symbols are texts, so a string and an enumeration need it, too.
    """
    by_type: dict[type, list[Kind]] = {}
    for branch in branches:
        python = str if branch.avro == "enum" else branch.python
        if python is not None:
            by_type.setdefault(python, []).append(branch)
    return frozenset(
        branch.branch
        for same in by_type.values()
        if len(same) > 1 and not all(branch.avro == "enum" for branch in same)
        for branch in same
    )
