"""Functions of Python workers that take a column of bytes, one call for each batch of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

#: The fields of a function's result: the value, and the reason if there is none.
VALUE, REASON = "value", "reason"


class Batch(Protocol):
    """Decodes messages; created on the driver and pickled."""

    def __call__(self, messages: pa.Array, kind: pa.DataType) -> tuple[pa.Array, pa.Array]:
        """The values of binary messages as an array of a type, and the error of each; a null message is no error."""


def vectorized(batch: Batch, returns: spark.StructType) -> Any:
    """Wrap a decoder for Spark's Arrow interface: `arrow_udf` in Spark 4.1 or newer, pandas in older versions."""
    from spark_avro.plan.arrow_type import arrow_type  # noqa: PLC0415 - only if a UDF is made

    kind = arrow_type(returns[VALUE].dataType)
    arrow_udf = getattr(F, "arrow_udf", None)
    if arrow_udf is not None:

        def decode_arrow(messages: pa.Array) -> pa.Array:
            import pyarrow as pa  # noqa: PLC0415 - in the workers

            return pa.StructArray.from_arrays(batch(messages, kind), names=returns.names)

        return arrow_udf(_typed(decode_arrow, "pa.Array"), returns)

    def decode_pandas(messages: pd.Series) -> pd.DataFrame:
        import pandas as pd  # noqa: PLC0415 - in the workers
        import pyarrow as pa  # noqa: PLC0415

        from spark_avro.plan.arrow_series import arrow_series  # noqa: PLC0415

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


def rule_udf(batch: Batch) -> Any:
    """The function that carries rules out on a column of bytes: a struct of `value` (OUTCOME) and `reason`."""
    return vectorized(
        batch,
        spark.StructType(
            [spark.StructField(VALUE, _OUTCOME), spark.StructField(REASON, spark.StringType())],
        ),
    )


#: The type of `spark_avro.plan.rules.workers.rule_batches.OUTCOME`.
_OUTCOME = spark.StructType(
    [
        spark.StructField("data", spark.BinaryType()),
        spark.StructField("rule", spark.StringType()),
        spark.StructField("path", spark.StringType()),
    ]
)
