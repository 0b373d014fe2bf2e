"""Texts that are not UTF-8: Spark keeps their bytes in a column, but JSON and Java's strings would have U+FFFD.

A JSON text can also be UTF-8 and have an escape of a text that is not: half of a surrogate pair, such as U+D800.
Java would make a question mark of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

import pyspark
from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark

#: Spark 3.5 has no such function, and its `decode` replaces what is not UTF-8.
_HAS_CHECK = int(pyspark.__version__.partition(".")[0]) >= 4

#: An escape of half a surrogate pair, in JSON without escaped backslashes.
_HIGH, _LOW = (rf"\\u[dD][{digits}][0-9a-fA-F]{{2}}" for digits in ("89abAB", "c-fC-F"))
_HALF_PAIR = f"{_HIGH}(?!{_LOW})|(?<!{_HIGH}){_LOW}"
#: The problem, for reasons.
HALF_PAIR = "a text of the JSON has half of a surrogate pair, which is no character and would become a question mark"


def is_utf8(text: Column) -> Column:
    """Whether a text is UTF-8; NULL for NULL."""
    if _HAS_CHECK:
        return F.call_function("is_valid_utf8", text)
    stored = text.cast("binary")
    return F.encode(F.decode(stored, "UTF-8"), "UTF-8") == stored


def utf8_text(payload: Column) -> Column:
    """The text of bytes; NULL if they are not UTF-8."""
    text = payload.cast("string")
    return F.when(is_utf8(text), text)


def has_half_pair(json: Column) -> Column:
    """Whether a JSON text has an escape of half a surrogate pair; NULL for NULL."""
    plain = F.regexp_replace(json, r"\\\\", " ")
    # Few texts have escapes, and the search for one is fast.
    return F.when(json.contains("\\u"), plain.rlike(_HALF_PAIR)).when(json.isNotNull(), F.lit(False))


def has_broken_text(value: Column, kind: spark.DataType) -> Column | None:
    """Whether a text in a value is not UTF-8, also in structs, arrays and maps; None if its type has no texts."""
    broken = [F.coalesce(~is_utf8(text), F.lit(False)) for text in _texts(value, kind)]
    return reduce(Column.__or__, broken) if broken else None


def _texts(value: Column, kind: spark.DataType) -> Iterator[Column]:
    """Texts that together have all texts of a value, between ASCII characters."""
    if not _has(kind, spark.StringType):
        return
    match kind:
        case spark.StructType():
            for field in kind.fields:
                yield from _texts(value.getField(field.name), field.dataType)
        case spark.MapType():
            yield from _texts(F.map_keys(value), spark.ArrayType(kind.keyType))
            yield from _texts(F.map_values(value), spark.ArrayType(kind.valueType))
        case spark.ArrayType(elementType=spark.StructType() as element):
            # The field of an array of structs is an array.
            for field in element.fields:
                yield from _texts(value.getField(field.name), spark.ArrayType(field.dataType))
        case spark.ArrayType() if _has(kind, spark.BinaryType):
            part = kind.elementType
            yield F.concat_ws(",", F.flatten(F.transform(value, lambda one: F.array(*_texts(one, part)))))
        case _:
            yield value.cast("string")


def _has(kind: spark.DataType, leaf: type[spark.DataType]) -> bool:
    """Whether a type is of a class, or has a part of it."""
    match kind:
        case spark.StructType():
            return any(_has(field.dataType, leaf) for field in kind.fields)
        case spark.ArrayType():
            return _has(kind.elementType, leaf)
        case spark.MapType():
            return _has(kind.keyType, leaf) or _has(kind.valueType, leaf)
    return isinstance(kind, leaf)
