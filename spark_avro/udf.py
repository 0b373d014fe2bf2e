"""Columns decoded in Python workers: for what the JVM cannot do, and for ids that were unknown when it was planned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark

from spark_avro.plan import Decoded, schema_id
from spark_avro.registry import Registry, client_of
from spark_avro.workers import Batch

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_REASON = "reason_"
_VALUE = "value_"


def decoded_by(batch: Batch, payload: Column, kind: spark.DataType) -> Decoded:
    """The parts of a column that Python workers decode, all of them from one call for a batch of rows.

    Args:
        batch: What decodes.
        payload: The messages.
        kind: The Spark type of the values.
    """
    flat = isinstance(kind, spark.StructType) and len(kind.fields) > 0
    fields = kind.fields if flat else [spark.StructField(_VALUE, kind)]
    parts = [spark.StructField(f"f{index}", field.dataType) for index, field in enumerate(fields)]
    returns = spark.StructType(
        [*parts, spark.StructField(_VALUE, spark.BooleanType()), spark.StructField(_REASON, spark.StringType())]
    )
    names = [field.name for field in fields] if flat else None
    whole = _vectorized(batch, names, returns)(payload)
    columns = [whole[part.name].alias(field.name) for part, field in zip(parts, fields, strict=True)]
    value = F.when(whole[_VALUE], F.struct(*columns)) if flat else whole[parts[0].name]
    return Decoded(value, whole[_REASON].isNull(), whole[_REASON], schema_id(payload))


def _vectorized(batch: Batch, names: Sequence[str] | None, returns: spark.StructType) -> Any:
    """The seam between Spark's two ways to hand Arrow to Python: `arrow_udf` where there is one, from 4.1 on."""
    arrow_udf = getattr(F, "arrow_udf", None)
    if arrow_udf is not None:

        def decode_arrow(messages: pa.Array) -> pa.Array:
            return _struct(_columns(batch, messages.to_pylist(), names), returns)

        return arrow_udf(_typed(decode_arrow, "pa.Array"), returns)

    def decode_pandas(messages: pd.Series) -> pd.DataFrame:
        return _frame(_columns(batch, list(messages), names), returns)

    return F.pandas_udf(_typed(decode_pandas, "pd.DataFrame"), returns)  # type: ignore[call-overload,unused-ignore]


def _typed(function: Any, result: str) -> Any:
    """The function with its type hints as objects, which pyspark reads and which `annotations` made texts."""
    import pandas as pd  # noqa: PLC0415 - only where a UDF is made
    import pyarrow as pa  # noqa: PLC0415

    named = {"pa.Array": (pa.Array, pa.Array), "pd.DataFrame": (pd.Series, pd.DataFrame)}
    takes, gives = named[result]
    function.__annotations__ = {"messages": takes, "return": gives}
    return function


def _columns(batch: Batch, messages: list[bytes | None], names: Sequence[str] | None) -> list[list[Any]]:
    outcomes = batch([None if message is None else bytes(message) for message in messages])
    values = [value for value, _ in outcomes]
    if names is None:
        columns = [values]
    else:
        columns = [[None if value is None else value[name] for value in values] for name in names]
    return [*columns, [value is not None for value in values], [reason for _, reason in outcomes]]


def _struct(columns: list[list[Any]], returns: spark.StructType) -> pa.Array:
    import pyarrow as pa  # noqa: PLC0415 - in the workers

    kinds = _arrow_types(returns)
    arrays = [pa.array(values, kind) for values, kind in zip(columns, kinds, strict=True)]
    return pa.StructArray.from_arrays(arrays, names=returns.names)


def _frame(columns: list[list[Any]], returns: spark.StructType) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415 - in the workers
    import pyarrow as pa  # noqa: PLC0415

    series = {}
    nested = (spark.StructType, spark.ArrayType, spark.MapType)
    for field, values, kind in zip(returns.fields, columns, _arrow_types(returns), strict=True):
        if isinstance(field.dataType, nested):
            # Spark converts nested values itself, from Python's.
            series[field.name] = pd.Series(values, dtype=object)
        else:
            series[field.name] = pd.Series(pd.arrays.ArrowExtensionArray(pa.array(values, kind)))
    return pd.DataFrame(series)


def _arrow_types(returns: spark.StructType) -> list[Any]:
    from pyspark.sql.pandas.types import to_arrow_type  # noqa: PLC0415 - in the workers

    return [to_arrow_type(field.dataType) for field in returns.fields]


def url_of(registry: Registry) -> str:
    """The registry's URLs, with commas between, for workers to ask."""
    return ",".join(client_of(registry).urls)
