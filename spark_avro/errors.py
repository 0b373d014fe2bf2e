"""The exceptions that this package raises on the driver while it makes a plan.

The errors of records in a running query are in `spark_avro.plan.decoding`: Spark raises them or returns them as values.
"""

from __future__ import annotations

from dataclasses import dataclass


class PlanError(ValueError):
    """A column that cannot be planned with these arguments."""


@dataclass(unsafe_hash=True)
class NoSubject(PlanError):
    """A subject that the registry does not have; `why` says how its name was chosen."""

    subject: str
    why: str = ""

    def __str__(self) -> str:
        return f"subject {self.subject!r} is not in the registry" + (f" ({self.why})" if self.why else "")


@dataclass(unsafe_hash=True)
class UnsupportedSchema(PlanError):
    """A schema that Spark cannot read or write faithfully, and the path at fault."""

    schema: str
    path: str
    problem: str

    def __str__(self) -> str:
        return f"{self.schema}: {self.path or 'the schema'} {self.problem}"


@dataclass(unsafe_hash=True)
class UnfitColumn(PlanError):
    """A column whose Spark type does not fit the schema to write it with."""

    path: str
    problem: str

    def __str__(self) -> str:
        return f"the column does not fit the schema: {self.path or 'it'} {self.problem}"


@dataclass(unsafe_hash=True)
class BrokenRecord(ValueError):
    """A record of a stream that cannot be decoded, and its place: topic, partition and offset, if known."""

    reason: str
    place: str

    def __str__(self) -> str:
        return f"{self.reason} at {self.place}" if self.place else self.reason
