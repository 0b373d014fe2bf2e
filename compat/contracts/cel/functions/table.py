"""The functions of rules, with their types."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from compat.contracts.cel.data.decimals import DECIMAL, decimal_message
from compat.contracts.cel.data.references import counted
from compat.contracts.cel.functions import decimal_functions, timestamps
from compat.contracts.cel.functions.formats import FORMATS

#: What the identifiers of all overloads begin with.
PREFIX = "magicbyte_"
#: The function that stands for `==` where one side is a decimal; see `equal_decimals.py`.
EQUAL_DECIMALS = "decimals.equal"


@dataclass(frozen=True, slots=True)
class Overload:
    """A function for some types of arguments.

    Attributes:
        name: The function's name.
        result: The type of its result, as CEL writes it.
        parameters: The types of its parameters.
        compute: The function; values are in the forms in which the engine gives and takes them.
        is_member: Whether it is called as `text.isEmail()`.
    """

    name: str
    result: str
    parameters: tuple[str, ...]
    compute: Callable[..., Any]
    is_member: bool = False

    @property
    def identifier(self) -> str:
        """The identifier in checked trees."""
        types = "_".join(parameter.rpartition(".")[2].lower() for parameter in self.parameters)
        return f"{PREFIX}{self.name.replace('.', '_')}_{types}"


def _overloads() -> Iterator[Overload]:
    for name, test in FORMATS.items():
        yield Overload(name, "bool", ("string",), test, is_member=True)
    for name, compare in decimal_functions.COMPARISONS.items():
        yield Overload(f"decimals.{name}", "bool", ("dyn", "dyn"), compare)
    for name, compute in decimal_functions.OPERATIONS.items():
        yield Overload(f"decimals.{name}", DECIMAL, ("dyn", "dyn"), compute)
    for name, change in decimal_functions.CHANGES.items():
        yield Overload(f"decimals.{name}", DECIMAL, ("dyn",), change)
    for name in ("round", "trunc"):
        yield Overload(f"decimals.{name}", DECIMAL, ("dyn", "int"), decimal_functions.CHANGES[name])
    yield Overload("decimals.sign", "int", ("dyn",), decimal_functions.sign)
    yield Overload(EQUAL_DECIMALS, "bool", ("dyn", "dyn"), decimal_functions.are_equal)
    yield Overload("decimal", DECIMAL, ("dyn",), lambda value: decimal_message(decimal_functions.to_decimal(value)))
    yield Overload("decimal", DECIMAL, ("bytes", "int"), decimal_functions.from_bytes)
    yield Overload("string", "string", (DECIMAL,), decimal_functions.plain_text)
    yield Overload("double", "double", (DECIMAL,), lambda value: float(decimal_functions.to_decimal(value)))
    yield Overload("timestamp.of", "timestamp", ("dyn",), timestamps.timestamp_of)
    yield Overload("timestamp.of", "timestamp", ("int", "string"), timestamps.timestamp_in)
    yield Overload("timestamp", "timestamp", ("int", "int"), timestamps.timestamp_at)


#: The functions by the identifiers of their overloads.
OVERLOADS: Mapping[str, Overload] = {overload.identifier: overload for overload in _overloads()}


def extension(cel: Any) -> Any:
    """The functions as an extension of the engine.

    Args:
        cel: The engine's module.
    """
    declared: dict[str, list[Any]] = {}
    for identifier, overload in OVERLOADS.items():
        made = cel.Overload(
            identifier,
            return_type=cel.Type(overload.result),
            parameters=[cel.Type(parameter) for parameter in overload.parameters],
            is_member=overload.is_member,
            impl=counted(overload.compute),
        )
        declared.setdefault(overload.name, []).append(made)
    return cel.CelExtension("magicbyte", [cel.FunctionDecl(name, made) for name, made in declared.items()])
