"""The fields of a schema, by their paths from the message."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Protocol

from compat.contracts.findings.contract import SchemaVersion
from compat.schema import AVRO, JSON, InvalidSchema

Path = tuple[str, ...]


class Paths(Protocol):
    """The fields of a schema by their paths."""

    def symbols(self, path: Path) -> frozenset[str] | None:
        """The symbols of the enum at a path; None if it is no enum."""

    def may_have(self, path: Path) -> bool:
        """Whether messages may have a field at a path, as far as the schema says."""

    def forbids(self, path: Path) -> bool:
        """Whether messages cannot have a field at a path, although an expression with it may be compiled."""


class _Unknown:
    """A schema that these checks know nothing about."""

    def symbols(self, _: Path) -> frozenset[str] | None:
        """Nothing."""
        return None

    def may_have(self, _: Path) -> bool:
        """Always true."""
        return True

    def forbids(self, _: Path) -> bool:
        """Always false."""
        return False


@lru_cache(maxsize=8)
def paths_of(version: SchemaVersion) -> Paths:
    """The fields of a schema by their paths."""
    make = _MAKERS.get(version.schema.schema_type)
    try:
        return _Unknown() if make is None else make(version)
    except InvalidSchema:
        return _Unknown()


def _avro(version: SchemaVersion) -> Paths:
    from compat.contracts.findings.avro_paths import AvroPaths  # noqa: PLC0415  each type loads a parser of its own

    return AvroPaths(version)


def _json(version: SchemaVersion) -> Paths:
    from compat.contracts.findings.json_paths import JsonPaths  # noqa: PLC0415  as above

    return JsonPaths(version)


_MAKERS: Mapping[str, Callable[[SchemaVersion], Paths]] = {AVRO: _avro, JSON: _json}
