"""The functions of rules, as the engine takes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from compat.contracts.cel.decimals import DECIMAL, decimal_message
from compat.contracts.cel.functions import decimal_functions, timestamps
from compat.contracts.cel.functions.formats import FORMATS

#: The function that stands for `==` where one side is a decimal; see `rewriting.py`.
EQUAL_DECIMALS = "decimals.equal"


def functions(cel: Any) -> Any:
    """The extension with the functions of rules.

    Args:
        cel: The engine's module.
    """
    declared: dict[str, list[Any]] = {}
    for name, overload in _overloads(cel):
        declared.setdefault(name, []).append(overload)
    return cel.CelExtension("magicbyte", [cel.FunctionDecl(name, overloads) for name, overloads in declared.items()])


def _overloads(cel: Any) -> Iterator[tuple[str, Any]]:
    types = cel.Type
    decimal, dyn, boolean, integer = types(DECIMAL), types.DYN, types.BOOL, types.INT

    def overload(name: str, result: Any, arguments: list[Any], compute: Callable[..., Any], *, suffix: str = "") -> Any:
        identifier = f"{name.replace('.', '_')}{suffix or '_dyn' * len(arguments)}"
        return name, cel.Overload(identifier, return_type=result, parameters=arguments, impl=compute)

    for name, test in FORMATS.items():
        made = cel.Overload(f"string_{name}", return_type=boolean, parameters=[types.STRING], is_member=True, impl=test)
        yield name, made
    for name, compare in decimal_functions.COMPARISONS.items():
        yield overload(f"decimals.{name}", boolean, [dyn, dyn], compare)
    for name, compute in decimal_functions.OPERATIONS.items():
        yield overload(f"decimals.{name}", decimal, [dyn, dyn], compute)
    for name, change in decimal_functions.CHANGES.items():
        yield overload(f"decimals.{name}", decimal, [dyn], change)
    for name in ("round", "trunc"):
        yield overload(f"decimals.{name}", decimal, [dyn, integer], decimal_functions.CHANGES[name], suffix="_dyn_int")
    yield overload("decimals.sign", integer, [dyn], decimal_functions.sign)
    yield overload(EQUAL_DECIMALS, boolean, [dyn, dyn], decimal_functions.are_equal)
    yield overload("decimal", decimal, [dyn], lambda value: decimal_message(decimal_functions.to_decimal(value)))
    yield overload("decimal", decimal, [types.BYTES, integer], decimal_functions.from_bytes, suffix="_bytes_int")
    yield overload("string", types.STRING, [decimal], decimal_functions.plain_text, suffix="_decimal")
    yield overload(
        "double", types.DOUBLE, [decimal], lambda value: float(decimal_functions.to_decimal(value)), suffix="_decimal"
    )
    yield overload("timestamp.of", types.TIMESTAMP, [dyn], timestamps.timestamp_of)
    yield overload(
        "timestamp.of", types.TIMESTAMP, [integer, types.STRING], timestamps.timestamp_in, suffix="_int_string"
    )
    yield overload("timestamp", types.TIMESTAMP, [integer, integer], timestamps.timestamp_at, suffix="_int_int")
