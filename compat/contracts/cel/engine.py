"""The engine: its environments for each set of variables, its compiler and its evaluator."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from itertools import permutations
from typing import Any

from compat.contracts.cel.data.decimals import decimal_pool, with_decimal
from compat.contracts.cel.declarations import CelType
from compat.contracts.cel.errors import ExpressionInvalid, invalid
from compat.contracts.cel.functions.table import extension

#: The environments that are kept: those of each kind of rule, and those of the schemas that were checked last.
_KEPT = 64
_VARIANTS = re.compile(r"\bvariants?\s*[.(]")
#: Operator -> the name in its overloads.
_COMPARISONS = {"_<_": "less", "_<=_": "less_equals", "_>_": "greater", "_>=_": "greater_equals"} | {
    "_==_": "equals",
    "_!=_": "not_equals",
}


class EngineMissing(RuntimeError):
    """The engine is not installed."""


def compile_text(declarations: Mapping[str, CelType], text: str) -> bytes:
    """The checked tree of a text, serialized.

    Raises:
        ExpressionInvalid: The text does not parse, or its types do not fit.
        EngineMissing: The extra `rules` is not installed.
    """
    return _compile(declarations, text, check=True)


def parse_text(declarations: Mapping[str, CelType], text: str) -> bytes:
    """The tree of a text whose types are not checked, serialized; the errors are those of `compile_text`."""
    return _compile(declarations, text, check=False)


def evaluator(declarations: Mapping[str, CelType], serialized: bytes) -> Callable[..., Any]:
    """The engine's function that evaluates a tree; it takes None and the values of the variables."""
    evaluate: Callable[..., Any] = _evaluating(tuple(declarations.items())).deserialize(serialized).eval
    return evaluate


def _compile(declarations: Mapping[str, CelType], text: str, *, check: bool) -> bytes:
    if "\0" in text:
        raise ExpressionInvalid("the text has a NUL character", *_position(text, text.index("\0")))
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ExpressionInvalid("the text has half of a surrogate pair", *_position(text, error.start)) from None
    environment = _checking(tuple(declarations.items()))
    try:
        serialized: bytes = environment.compile(text, not check).serialize()
    except RuntimeError as error:
        refused = invalid(str(error))
        if "undeclared" in refused.detail and _VARIANTS.search(text):
            refused.detail += "; the functions of variants are not supported"
        raise refused from None
    return serialized


@lru_cache(maxsize=_KEPT)
def _checking(variables: tuple[tuple[str, CelType], ...]) -> Any:
    """The environment that compiles; it knows comparisons of numbers of different types.

    The engine evaluates such comparisons, but its checker refuses them, and it evaluates none that others declare. So
    the environment that evaluates has no declarations of them.
    """
    return _environment(variables, [_comparisons()])


@lru_cache(maxsize=_KEPT)
def _evaluating(variables: tuple[tuple[str, CelType], ...]) -> Any:
    return _environment(variables, [])


def _environment(variables: tuple[tuple[str, CelType], ...], extensions: list[Any]) -> Any:
    cel = engine()
    pools = {id(declared.pool): declared.pool for _, declared in variables if declared.pool is not None}
    if len(pools) > 1:
        raise ValueError("The types of an expression's variables are of one descriptor pool")
    pool = with_decimal(next(iter(pools.values()))) if pools else decimal_pool()
    types = {name: cel.Type(declared.signature) for name, declared in variables}
    return cel.NewEnv(descriptor_pool=pool, variables=types, extensions=[*_extensions(), *extensions])


@cache
def engine() -> Any:
    """The module of the engine, imported on first use.

    Raises:
        EngineMissing: The extra `rules` is not installed.
    """
    try:
        from cel_expr_python import cel  # noqa: PLC0415 - it takes a tenth of a second
    except ImportError as error:
        text = "CEL rules need the package cel-expr-python: pip install 'magicbyte[rules]'"
        raise EngineMissing(text) from error
    return cel


def _extensions() -> list[Any]:
    from cel_expr_python.ext import ext_math, ext_strings  # noqa: PLC0415 - as the engine

    return [extension(engine()), ext_strings.ExtStrings(), ext_math.ExtMath()]


def _comparisons() -> Any:
    cel = engine()
    numbers = {"int64": cel.Type.INT, "uint64": cel.Type.UINT, "double": cel.Type.DOUBLE}
    return cel.CelExtension(
        "numbers",
        [
            cel.FunctionDecl(
                operator,
                [
                    cel.Overload(f"{name}_{left}_{right}", cel.Type.BOOL, [numbers[left], numbers[right]])
                    for left, right in permutations(numbers, 2)
                ],
            )
            for operator, name in _COMPARISONS.items()
        ],
    )


def _position(text: str, index: int) -> tuple[int, int]:
    line = text.count("\n", 0, index) + 1
    return line, index - (text.rfind("\n", 0, index) + 1) + 1
