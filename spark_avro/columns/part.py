"""The types of readers in columns, and the exception for a part of a schema that is not read in columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from spark_avro.columns.rows import Rows

#: Below this number of rows, the decoder of single messages is faster than reading in columns.
FEW = 128

#: Reads a value of each row as an Arrow array; before presenting, as a numpy array of numbers or as a Content.
Read = Callable[[Rows], Any]
#: Makes the Arrow array of the values that were read.
Present = Callable[[Rows, Any], pa.Array]


class RowByRow(Exception):
    """A part of a schema is not read in columns: the decoder of single messages reads its data."""
