"""What reads a part of a schema in columns, and what is raised where nothing does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from spark_avro.columns.rows import Rows

#: Of so few rows the decoder of single messages has done each by the time that they would have been read in columns.
FEW = 128

#: Reads a value of each row: an Arrow array; before it is presented, numbers as numpy's and other content as its place.
Read = Callable[[Rows], Any]
#: Makes the Arrow array of what was read.
Present = Callable[[Rows, Any], pa.Array]


class RowByRow(Exception):
    """A part of a schema is not read in columns: its data are left to the decoder of single messages."""
