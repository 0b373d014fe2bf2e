"""The identity of Avro schemas in the Avro library for Java: the order of aliases and properties does not count."""

from __future__ import annotations

from typing import Any

from compat.json.json_text import dumps, loads


def structure(canonical: str) -> str:
    """A text that schemas share if the Avro library takes them for equal.

    Aliases are sets there, and properties and the objects in defaults are maps.

    Args:
        canonical: The canonical text of a schema.
    """
    return dumps(_type(loads(canonical)), sort_keys=True)


def may_share_structure(text: str, other: str) -> bool:
    """Whether two canonical texts have the same characters, in any order, as texts of one structure have.

    This is quick, because most texts differ in their length or in the number of some digit.
    """
    return (
        len(text) == len(other)
        and all(text.count(digit) == other.count(digit) for digit in "0123456789")
        and sorted(text) == sorted(other)
    )


def _type(value: Any) -> Any:
    if value.__class__ is list:
        return list(map(_type, value))
    if value.__class__ is not dict:
        return value
    inner = {key: _type(value[key]) for key in ("items", "values") if key in value and value["type"] in _HOLDERS}
    if value["type"] in _RECORDS:
        inner["fields"] = [_with_sorted_aliases({**field, "type": _type(field["type"])}) for field in value["fields"]]
    return _with_sorted_aliases({**value, **inner}) if value["type"] in _NAMED else {**value, **inner}


def _with_sorted_aliases(value: dict[str, Any]) -> dict[str, Any]:
    return {**value, "aliases": sorted(value["aliases"])} if "aliases" in value else value


_HOLDERS = frozenset({"array", "map"})
_RECORDS = frozenset({"record", "error"})
_NAMED = _RECORDS | {"enum", "fixed"}
