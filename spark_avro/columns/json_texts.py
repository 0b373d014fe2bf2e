"""JSON messages in columns: validation needs each value in Python, but the texts stay in Arrow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from spark_avro.columns.leaves import binary, text
from spark_avro.columns.part import Read
from spark_avro.columns.rows import Rows


def valid_texts(accepts: Callable[[Any], bool], longest: int, kind: pa.DataType) -> Read:
    """Reads the texts of valid messages; other rows are broken.

    Args:
        accepts: Whether the schema accepts a value.
        longest: The largest size of messages in bytes for which `accepts` is quick; larger ones count as broken.
        kind: Arrow's type of texts.
    """

    def is_valid(payload: bytes) -> bool:
        try:
            return len(payload) <= longest and accepts(orjson.loads(payload))
        except (ValueError, RecursionError):
            return False

    def read(rows: Rows) -> pa.Array:
        content = rows.content(rows.end - rows.at)
        payloads = binary(rows, content).to_pylist()
        valid = np.fromiter(map(is_valid, payloads), np.bool_, len(payloads))
        rows.mark_broken(~valid)
        return text(rows, content).cast(kind)

    return read
