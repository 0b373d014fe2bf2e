"""The type that holds the values of two types, and columns in that type: for rows of several schemas in one frame."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark

from spark_avro.plan.column_fit import alike

#: Whole numbers, from narrow to wide.
_WHOLE = (spark.ByteType, spark.ShortType, spark.IntegerType, spark.LongType)
#: The decimal digits of whole numbers.
_DIGITS = dict(zip(_WHOLE, (3, 5, 10, 20), strict=True))
_MOST_DIGITS = 38


class TypesDoNotFit(Exception):
    """Two types of a column that no type holds.

    Attributes:
        path: The column's path, with dots between names; `[]` is the item of an array, `{}` the value of a map.
        one, other: The types.
    """

    def __init__(self, path: str, one: spark.DataType, other: spark.DataType) -> None:
        super().__init__(path, one, other)
        self.path = path
        self.one = one
        self.other = other


def united_type(
    one: spark.DataType, other: spark.DataType, *, case_sensitive: bool = False, path: str = ""
) -> spark.DataType:
    """The type that holds the values of two types: structs have the fields of both, and numbers widen.

    Whole numbers with floats become doubles, as in Spark's unions. Other types have to be equal.

    Args:
        one: A type, whose fields come first.
        other: Another type.
        case_sensitive: Whether `id` and `Id` are different fields.
        path: The path of the column.

    Raises:
        TypesDoNotFit: there is no such type.
    """

    def united(left: spark.DataType, right: spark.DataType, suffix: str) -> spark.DataType:
        return united_type(left, right, case_sensitive=case_sensitive, path=path + suffix)

    if alike(one, other) or isinstance(other, spark.NullType):
        return one
    if isinstance(one, spark.NullType):
        return other
    if isinstance(one, spark.StructType) and isinstance(other, spark.StructType):
        return _united_structs(one, other, case_sensitive=case_sensitive, path=path)
    if isinstance(one, spark.ArrayType) and isinstance(other, spark.ArrayType):
        return spark.ArrayType(united(one.elementType, other.elementType, "[]"))
    if isinstance(one, spark.MapType) and isinstance(other, spark.MapType) and alike(one.keyType, other.keyType):
        return spark.MapType(one.keyType, united(one.valueType, other.valueType, "{}"))
    number = _wider(one, other)
    if number is None:
        raise TypesDoNotFit(path, one, other)
    return number


def _united_structs(
    one: spark.StructType, other: spark.StructType, *, case_sensitive: bool, path: str
) -> spark.StructType:
    further = {field.name if case_sensitive else field.name.lower(): field for field in other.fields}
    fields: list[spark.StructField] = []
    for field in one.fields:
        same = further.pop(field.name if case_sensitive else field.name.lower(), None)
        inner = f"{path}.{field.name}" if path else field.name
        kind = (
            field.dataType
            if same is None
            else united_type(field.dataType, same.dataType, case_sensitive=case_sensitive, path=inner)
        )
        fields.append(spark.StructField(field.name, kind))
    return spark.StructType([*fields, *(spark.StructField(field.name, field.dataType) for field in further.values())])


def _wider(one: spark.DataType, other: spark.DataType) -> spark.DataType | None:
    """The wider one of two types of numbers; None if they are none, or if a decimal cannot hold their digits."""
    if isinstance(one, _WHOLE) and isinstance(other, _WHOLE):
        return max(one, other, key=lambda kind: _DIGITS[type(kind)])
    if not isinstance(one, spark.NumericType) or not isinstance(other, spark.NumericType):
        return None
    kinds = (one, other)
    if any(isinstance(kind, spark.FloatType | spark.DoubleType) for kind in kinds):
        return spark.DoubleType()
    before, behind = zip(*map(_decimal_digits, kinds), strict=True)
    if max(before) + max(behind) > _MOST_DIGITS:
        return None
    return spark.DecimalType(max(before) + max(behind), max(behind))


def _decimal_digits(kind: spark.DataType) -> tuple[int, int]:
    """The digits before and behind the point."""
    if isinstance(kind, spark.DecimalType):
        return kind.precision - kind.scale, kind.scale
    return _DIGITS[type(kind)], 0


def as_type(column: Column, source: spark.DataType, target: spark.DataType, *, case_sensitive: bool = False) -> Column:
    """A column in a type that `united_type` made of the column's type; fields that it lacks are NULL."""
    if alike(source, target):
        return column
    if isinstance(source, spark.StructType) and isinstance(target, spark.StructType):
        own = {field.name if case_sensitive else field.name.lower(): field for field in source.fields}
        fields = []
        for field in target.fields:
            same = own.get(field.name if case_sensitive else field.name.lower())
            value = (
                F.lit(None).cast(field.dataType)
                if same is None
                else as_type(column.getField(same.name), same.dataType, field.dataType, case_sensitive=case_sensitive)
            )
            fields.append(value.alias(field.name))
        return F.when(column.isNotNull(), F.struct(*fields))
    if isinstance(source, spark.ArrayType) and isinstance(target, spark.ArrayType):
        items, wanted = source.elementType, target.elementType
        return F.transform(column, lambda item: as_type(item, items, wanted, case_sensitive=case_sensitive))
    if isinstance(source, spark.MapType) and isinstance(target, spark.MapType):
        values, to = source.valueType, target.valueType
        return F.transform_values(column, lambda _, value: as_type(value, values, to, case_sensitive=case_sensitive))
    return column.cast(target)
