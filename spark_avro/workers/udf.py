"""Columns decoded in Python workers: for features that the JVM lacks, and for ids that were unknown to the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark

from spark_avro.plan.decoding import Decoded
from spark_avro.plan.frames import schema_id
from spark_avro.registry import Registry, settings_for_workers
from spark_avro.workers.decoding import Asked, Batch

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_VALUE, _REASON = "value", "reason"


def decoded_by(batch: Batch, message: Column, kind: spark.DataType) -> Decoded:
    """The parts of a column that Python workers decode with one call per batch of rows.

    Args:
        batch: The decoder.
        message: The messages with ids before the payloads.
        kind: The Spark type of the values.
    """
    fields = [spark.StructField(_VALUE, kind), spark.StructField(_REASON, spark.StringType())]
    whole = _vectorized(batch, spark.StructType(fields))(message)
    return Decoded(whole[_VALUE], whole[_REASON].isNull(), whole[_REASON], schema_id(message))


def rule_udf(batch: Batch) -> Any:
    """The function that carries rules out on a column of bytes: a struct of `value` (OUTCOME) and `reason`."""
    return _vectorized(
        batch,
        spark.StructType(
            [spark.StructField(_VALUE, _OUTCOME), spark.StructField(_REASON, spark.StringType())],
        ),
    )


#: The type of `spark_avro.workers.rule_batches.OUTCOME`.
_OUTCOME = spark.StructType(
    [
        spark.StructField("data", spark.BinaryType()),
        spark.StructField("rule", spark.StringType()),
        spark.StructField("path", spark.StringType()),
    ]
)


def _vectorized(batch: Batch, returns: spark.StructType) -> Any:
    """Wrap a decoder for Spark's Arrow interface: `arrow_udf` in Spark 4.1 or newer, pandas in older versions."""
    from spark_avro.workers.arrow_type import arrow_type  # noqa: PLC0415 - only if a UDF is made

    kind = arrow_type(returns[_VALUE].dataType)
    arrow_udf = getattr(F, "arrow_udf", None)
    if arrow_udf is not None:

        def decode_arrow(messages: pa.Array) -> pa.Array:
            import pyarrow as pa  # noqa: PLC0415 - in the workers

            return pa.StructArray.from_arrays(batch(messages, kind), names=returns.names)

        return arrow_udf(_typed(decode_arrow, "pa.Array"), returns)

    def decode_pandas(messages: pd.Series) -> pd.DataFrame:
        import pandas as pd  # noqa: PLC0415 - in the workers
        import pyarrow as pa  # noqa: PLC0415

        from spark_avro.columns.series import arrow_series  # noqa: PLC0415

        arrays = batch(pa.array(messages, pa.large_binary()), kind)
        return pd.DataFrame(dict(zip(returns.names, map(arrow_series, arrays), strict=True)))

    return F.pandas_udf(_typed(decode_pandas, "pd.DataFrame"), returns)  # type: ignore[call-overload,unused-ignore]


def _typed(function: Any, result: str) -> Any:
    """Replace the function's type hints by objects: pyspark reads them, and `annotations` turned them into texts."""
    import pandas as pd  # noqa: PLC0415 - only if a UDF is made
    import pyarrow as pa  # noqa: PLC0415

    named = {"pa.Array": (pa.Array, pa.Array), "pd.DataFrame": (pd.Series, pd.DataFrame)}
    takes, gives = named[result]
    function.__annotations__ = {"messages": takes, "return": gives}
    return function


def asked_by_workers(registry: Registry) -> Asked:
    """The settings with which workers connect to the registry.

    Raises:
        PlanError: the settings contain a secret as plain text, or they are hidden inside a given client.
    """
    return tuple(sorted(settings_for_workers(registry).items()))
