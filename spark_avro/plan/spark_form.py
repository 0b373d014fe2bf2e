"""Converts Avro data to the values that Spark's own Avro reader would return, in a form for Arrow.

Data are resolved as in Java's Avro library, and the reader's schema gives them their meaning: dates and timestamps are
integers, and so are times of day, which Spark has no type for; if the reader has no logical type, every value is of the
underlying type. If both sides have a logical type, the rules are those of `resolution`. A union of several types is a
struct with a member for each type; the member of the written type, after resolution, is set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Context, Decimal
from functools import lru_cache
from typing import Any

from serdes.codec.codec import CACHED_CODECS, decoder
from serdes.codec.forms.form import DATA
from serdes.codec.logical import Convert
from serdes.codec.resolve.java_plan import resolve_as_java
from serdes.codec.resolve.plan import Plan
from serdes.codec.schema import Node, parse
from spark_avro.plan import tree as trees
from spark_avro.plan.resolution import SAME_TYPE
from spark_avro.plan.tree import MAX_PRECISION, Tree
from spark_avro.plan.types import members


class Unlike(ValueError):
    """Logical types of writer and reader between which Spark does not convert."""


def reader_text(schema: Tree) -> str:
    """The text of a reader's schema; in a union that Spark widens to one type, logical types of numbers are removed."""
    return trees.text(_plain(schema))


def _plain(schema: Tree) -> Tree:
    if isinstance(schema, list):
        kinds = [branch["type"] for branch in schema if branch["type"] != "null"]
        if len(kinds) > 1 and not members(kinds):
            return [{"type": branch["type"]} for branch in schema]
        return [_plain(branch) for branch in schema]
    kind = schema["type"]
    if kind == "record":
        return {**schema, "fields": [{**field, "type": _plain(field["type"])} for field in schema["fields"]]}
    if kind in ("array", "map"):
        part = "items" if kind == "array" else "values"
        return {**schema, part: _plain(schema[part])}
    return schema


def member_keys(union: Node) -> Mapping[str, str]:
    """The struct members of a union, by its branches; empty if Spark has no struct for it."""
    branches = [branch for branch in union.branches if branch.kind != "null"]
    names = members([branch.kind for branch in branches])
    return dict(zip((branch.branch for branch in branches), names, strict=True)) if names else {}


def stands_for(plan: Plan) -> Node:
    """The type that defines the meaning of a value: the reader's, or the writer's if its unit or scale differs.

    Raises:
        Unlike: Spark does not convert the writer's logical type to the reader's.
    """
    written, read = plan.node, plan.target
    if None in (written.meaning, read.meaning):
        return read
    if written.meaning == "decimal" == read.meaning:
        if written.scale <= read.scale and written.precision - written.scale <= read.precision - read.scale:
            return written
        raise Unlike(f"{_words(written)} in the data, which {_words(read)} cannot hold")
    if written.meaning == read.meaning:
        return read
    if any({written.meaning, read.meaning} <= alike for alike in SAME_TYPE):
        return written
    raise Unlike(f"{written.meaning} in the data and {read.meaning} for the reader, which Spark does not convert")


def _words(node: Node) -> str:
    return f"decimal({node.precision},{node.scale})"


def _present(plan: Plan) -> Convert | None:
    try:
        node = stands_for(plan)
    except Unlike as error:
        return _refusing(str(error))
    make = _LOGICAL.get(node.logical)
    if make is not None:
        return make(node)
    return _nearest_float if plan.kind in ("int", "long") and plan.target.kind == "float" else None


def _refusing(problem: str) -> Convert:
    def refuse(_: Any) -> Any:
        raise Unlike(problem)

    return refuse


def _nearest_float(value: int) -> float:
    """The float nearest to an integer; a conversion through double would round a long twice."""
    import numpy as np  # noqa: PLC0415 - in the workers

    return float(np.int64(value).astype(np.float32))


def _decimal(node: Node) -> Convert:
    context, limit = Context(prec=MAX_PRECISION), 10**node.precision

    def present(value: bytes | str) -> Decimal:
        stored = value.encode() if isinstance(value, str) else value
        if not stored:
            raise ValueError("a decimal of no bytes")
        unscaled = int.from_bytes(stored, "big", signed=True)
        if abs(unscaled) >= limit:
            raise ValueError(f"a decimal of more than {node.precision} digits")
        return Decimal(unscaled).scaleb(-node.scale, context)

    return present


def _micros_of_millis(_: Node) -> Convert:
    return lambda value: value * 1000


#: Conversions of logical types; other types stay numbers or text.
_LOGICAL: Mapping[str | None, Callable[[Node], Convert]] = {
    "decimal": _decimal,
    "timestamp-millis": _micros_of_millis,
    "local-timestamp-millis": _micros_of_millis,
}

FORM = DATA._replace(present=_present, members=member_keys)


@lru_cache(maxsize=CACHED_CODECS)
def plan_of(writer: str, named: tuple[str, ...], reader: str) -> Plan:
    """The plan for reading a writer's data as a reader's; like `decoder_of`, cached once per process.

    Args:
        writer: The text of the writer's schema.
        named: The texts of the schemas that it refers to, in dependency order.
        reader: The text of the reader's schema, from `reader_text`.

    Raises:
        SchemaError: a text is not a schema, or is nested too deeply.
    """
    return resolve_as_java(parse(writer, named), parse(reader))


@lru_cache(maxsize=CACHED_CODECS)
def decoder_of(plan: Plan) -> Callable[..., Any]:
    """The function that decodes the value at an offset of a buffer to Spark's form."""
    return decoder(plan, FORM)
