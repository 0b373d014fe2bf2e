"""The names of types, as CEL's own error texts write them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_PRIMITIVES = ("dyn", "bool", "int", "uint", "double", "string", "bytes")
_WELL_KNOWN = ("dyn", "google.protobuf.Any", "timestamp", "duration")


def type_name(checked: Any) -> str:
    """The name of a `cel.expr.Type`: `bool`, `wrapper(int)`, `list(dyn)`, `map(string, dyn)`, or a message's name."""
    kind = checked.WhichOneof("type_kind")
    return _NAMES[kind](getattr(checked, kind)) if kind in _NAMES else "dyn"


_NAMES: dict[str, Callable[[Any], str]] = {
    "null": lambda _: "null_type",
    "primitive": lambda primitive: _PRIMITIVES[primitive],
    "wrapper": lambda primitive: f"wrapper({_PRIMITIVES[primitive]})",
    "well_known": lambda known: _WELL_KNOWN[known],
    "list_type": lambda made: f"list({type_name(made.elem_type)})",
    "map_type": lambda made: f"map({type_name(made.key_type)}, {type_name(made.value_type)})",
    "message_type": str,
    "abstract_type": lambda made: str(made.name),
    "type": lambda _: "type",
}
