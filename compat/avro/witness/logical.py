"""Logical types that take the same value for another one; the rules of compatibility do not look at logical types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from compat.avro.nodes import Fixed, Node, Primitive, Union
from compat.avro.rules.checking import PROMOTIONS
from compat.avro.schema import AvroSchema
from compat.avro.text.logical_types import has_logical_type
from compat.avro.witness.data import Sizes, Step
from compat.avro.witness.pairing import Pair
from compat.avro.witness.trial import Trial
from compat.difference import STRICT_AND_LENIENT, Difference, Rule

LOGICAL_TYPE_CHANGED = Rule(
    "LOGICAL_TYPE_CHANGED",
    STRICT_AND_LENIENT,
    change="The {reader} schema has {reader_type} where the {writer} schema has {writer_type}.",
    harm="The stored value stays the same, and readers take it for another one. Avro's Java library does so silently.",
    remedy="Keep {writer_type}, or add a field of the new type.",
    writer_remedy="Keep {reader_type}, or add a field of the new type.",
)

#: Stored values that show a difference: a time of day or a date, and an instant.
_SMALL, _INSTANT = 1234, 1_700_000_000_000
#: The most digits of a decimal that is shown.
_MOST_DIGITS = 18


def relabelled(pair: Pair, reader: AvroSchema, writer: AvroSchema, trial: Trial, sizes: Sizes) -> Iterator[Difference]:
    """A value that two logical types understand in two ways.

    A type that gains or loses its logical type keeps the value's meaning. A decimal with a larger precision reads all
    values of a smaller one. (Avro specification, Logical Types and Schema Resolution.)

    Raises:
        TooMuchWork: The datum exceeds the trial's budget.
    """
    written, read = pair.writer, _read_as(pair)
    if not isinstance(written, Primitive | Fixed) or not isinstance(read, Primitive | Fixed):
        return
    if not has_logical_type(written) or not has_logical_type(read) or _means_the_same(written, read):
        return
    value = _sample(written, read)
    told = [_understood(node, value) for node in (written, read)]
    effect = f"{told[0]} is read as {told[1]}." if None not in told and told[0] != told[1] else None
    witness = trial.written((*pair.route, value), sizes, effect) if effect is not None else None
    arguments = {"reader_type": _name(read), "writer_type": _name(written)}
    path = "/" + "/".join(map(str, pair.route))
    yield Difference(LOGICAL_TYPE_CHANGED, path, arguments, reader.pointer(read), writer.pointer(written), witness)


def _read_as(pair: Pair) -> Node | None:
    """The type that a reader reads the written type as; of a union, the same primitive type or one it promotes to.

    The pairs already have the branches for named types.
    """
    if not isinstance(pair.writer, Primitive):
        return None if isinstance(pair.reader, Union) else pair.reader
    if not isinstance(pair.reader, Union):
        return pair.reader if pair.reader.type in PROMOTIONS[pair.writer.type] else None
    fitting = [branch for branch in pair.reader.branches if branch.type in PROMOTIONS[pair.writer.type]]
    return next((branch for branch in fitting if branch.type == pair.writer.type), fitting[0] if fitting else None)


def _means_the_same(written: Primitive | Fixed, read: Primitive | Fixed) -> bool:
    if written.props["logicalType"] != read.props["logicalType"]:
        return False
    if written.props["logicalType"] != "decimal":
        return True
    scales, precisions = ([node.props.get(name, 0) for node in (written, read)] for name in ("scale", "precision"))
    return bool(scales[0] == scales[1] and precisions[0] <= precisions[1])


def _sample(written: Primitive | Fixed, read: Primitive | Fixed) -> Step:
    if written.type in {"int", "long"}:
        is_instant = any("timestamp" in node.props["logicalType"] for node in (written, read))
        return _INSTANT if is_instant and written.type == "long" else _SMALL
    if written.type == "string":
        return ""
    is_wider = written.props.get("precision", 0) > read.props.get("precision", 0)
    digits = min(written.props.get("precision", 4), _MOST_DIGITS if is_wider else 4)
    unscaled = int("123456789123456789"[:digits])
    size = written.size if isinstance(written, Fixed) else unscaled.bit_length() // 8 + 1
    return unscaled.to_bytes(size, "big")


def _understood(node: Primitive | Fixed, value: Any) -> str | None:
    """A stored value as fastavro understands it; None if it does not know the logical type."""
    from fastavro.read import LOGICAL_READERS  # noqa: PLC0415 - only for those who ask for data

    kind = "fixed" if isinstance(node, Fixed) else node.type
    convert = LOGICAL_READERS.get(f"{kind}-{node.props['logicalType']}")
    if convert is None:
        return None
    schema: Mapping[str, Any] = {"type": node.type, **node.props}
    try:
        return str(convert(value, schema, schema))
    except (TypeError, ValueError, ArithmeticError):  # a text that is read as bytes has no digits
        return None


def _name(node: Primitive | Fixed) -> str:
    logical = node.props["logicalType"]
    if logical != "decimal":
        return str(logical)
    return f"decimal({node.props['precision']}, {node.props.get('scale', 0)})"
