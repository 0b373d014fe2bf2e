"""Arrow arrays as pandas series, which Spark 4.0 takes from a UDF."""

from __future__ import annotations

from typing import Any, Self

import pandas as pd
import pyarrow as pa


class _Ready(pd.arrays.ArrowExtensionArray):
    """An array of values in the form that Spark sends.

    Spark maps each value of lists, maps and structs to that form before it makes an Arrow array of them, which takes
    longer than all else here; numbers and texts it takes as they are.
    """

    def map(self, mapper: Any, na_action: Any = None) -> Self:  # noqa: ARG002 - the signature is pandas'
        """The array itself."""
        return self

    def __getitem__(self, item: Any) -> Any:
        """Some of the array; pandas looks at the first value, and Python has none for the dates beyond its own."""
        return None if isinstance(item, int) else super().__getitem__(item)


def arrow_series(array: pa.Array) -> pd.Series[Any]:
    """A series that becomes this very array."""
    return pd.Series(_Ready(array))
