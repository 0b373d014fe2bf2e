"""Rows in the driver, as an Arrow table."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema


def collected(rows: DataFrame) -> pa.Table:
    """All rows, as PySpark's own `toArrow` makes them, which 3.5 lacks."""
    frame: Any = rows
    if hasattr(frame, "toArrow"):
        return frame.toArrow()
    schema: pa.Schema = to_arrow_schema(rows.schema)
    batches = frame._collect_as_arrow()  # noqa: SLF001 - `toPandas` would change types
    return pa.Table.from_batches(batches).cast(schema) if batches else schema.empty_table()
