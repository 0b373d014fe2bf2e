"""The engine: an environment for each set of variables, and its compiler."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

from compat.contracts.cel.decimals import decimal_pool, with_decimal
from compat.contracts.cel.declarations import CelType
from compat.contracts.cel.errors import ExpressionInvalid, invalid
from compat.contracts.cel.functions.table import functions

#: The environments that are kept: one for each kind of rule, and those of the schemas that were checked last.
_KEPT = 64
_VARIANTS = re.compile(r"\bvariants?\s*[.(]")


class EngineMissing(RuntimeError):
    """The engine is not installed."""


def environment(declarations: Mapping[str, CelType]) -> Any:
    """The engine's environment for some variables.

    Raises:
        EngineMissing: The extra `rules` is not installed.
    """
    return _environment(tuple(declarations.items()))


def compile_text(environment: Any, text: str) -> Any:
    """The engine's expression for a text.

    Raises:
        ExpressionInvalid: The text does not parse, or its types do not fit.
    """
    if "\0" in text:
        raise ExpressionInvalid("the text has a NUL character", *_position(text, text.index("\0")))
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ExpressionInvalid("the text has half of a surrogate pair", *_position(text, error.start)) from None
    try:
        return environment.compile(text)
    except RuntimeError as error:
        refused = invalid(str(error))
        if "undeclared" in refused.detail and _VARIANTS.search(text):
            refused.detail += "; the functions of variants are not supported"
        raise refused from None


@lru_cache(maxsize=_KEPT)
def _environment(variables: tuple[tuple[str, CelType], ...]) -> Any:
    cel = engine()
    pools = {id(declared.pool): declared.pool for _, declared in variables if declared.pool is not None}
    if len(pools) > 1:
        raise ValueError("The types of an expression's variables are of one descriptor pool")
    pool = with_decimal(next(iter(pools.values()))) if pools else decimal_pool()
    types = {name: cel.Type(declared.signature) for name, declared in variables}
    return cel.NewEnv(descriptor_pool=pool, variables=types, extensions=_extensions())


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

    return [functions(engine()), ext_strings.ExtStrings(), ext_math.ExtMath()]


def _position(text: str, index: int) -> tuple[int, int]:
    line = text.count("\n", 0, index) + 1
    return line, index - (text.rfind("\n", 0, index) + 1) + 1
