"""Logical types and the types that may carry them; a misplaced one is ignored (Avro specification, Logical Types)."""

from __future__ import annotations

from compat.avro.nodes import Fixed, Node, Primitive

_LOGICAL_TYPES = {
    "date": ("int",),
    "time-millis": ("int",),
    "time-micros": ("long",),
    "timestamp-millis": ("long",),
    "timestamp-micros": ("long",),
    "timestamp-nanos": ("long",),
    "local-timestamp-millis": ("long",),
    "local-timestamp-micros": ("long",),
    "local-timestamp-nanos": ("long",),
    "big-decimal": ("bytes",),
    "uuid": ("string", "fixed"),
    "duration": ("fixed",),
    "decimal": ("bytes", "fixed"),
}
_FIXED_SIZES = {"uuid": 16, "duration": 12}
#: Java stores a precision as an int, and ignores a decimal with a larger one.
_MAX_PRECISION = 2**31 - 1


def has_logical_type(node: Node) -> bool:
    """Whether a type carries a known logical type that fits it."""
    if not isinstance(node, Primitive | Fixed):
        return False
    name = node.props.get("logicalType")
    if name.__class__ is not str or node.type not in _LOGICAL_TYPES.get(name, ()):
        return False
    if name == "decimal":
        return _is_decimal(node)
    return not isinstance(node, Fixed) or node.size == _FIXED_SIZES[name]


def _is_decimal(node: Primitive | Fixed) -> bool:
    precision, scale = node.props.get("precision"), node.props.get("scale", 0)
    if precision.__class__ is not int or scale.__class__ is not int:
        return False
    if not 0 <= scale <= precision or not 1 <= precision <= _MAX_PRECISION:
        return False
    # This many decimal digits fit in the two's complement of the fixed's size.
    return not isinstance(node, Fixed) or precision <= (8 * node.size - 1) * 0.30103
