"""Arrow arrays as pandas series, which Spark 4.0 needs from a UDF."""

from __future__ import annotations

from typing import Any, Self

import pandas as pd
import pyarrow as pa


class _Ready(pd.arrays.ArrowExtensionArray):
    """An array of values that are already in the form that Spark sends.

    Spark converts lists, maps and structs value by value before it makes an Arrow array, which takes longer than
    everything else here; it does not convert numbers and texts.
    """

    def map(self, mapper: Any, na_action: Any = None) -> Self:  # noqa: ARG002 - the signature is pandas'
        """Returns the array unchanged."""
        return self

    def __getitem__(self, item: Any) -> Any:
        """A slice; None for a single value: pandas reads the first one, which may be a date outside Python's range."""
        return None if isinstance(item, int) else super().__getitem__(item)


def arrow_series(array: pa.Array) -> pd.Series[Any]:
    """A series that Spark converts to this array without copying values one by one."""
    return pd.Series(_Ready(array))
