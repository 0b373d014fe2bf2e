"""`murmur2` for SQL: the hash by which Java's clients choose a partition."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

_FACTOR, _SEED = np.uint32(0x5BD1E995), np.uint32(0x9747B28C)
_Words = npt.NDArray[np.uint32]


def offer_murmur2(session: SparkSession) -> None:
    """Give a session the function `murmur2(column, ..)`.

    Its arguments are texts or bytes, whose bytes count one after the other; NULL gives NULL. The result is a whole
    number from 0 to 2^31 - 1: with `% n`, the partition of n that Java's producer chooses for such a key. The hash is
    that of Kafka's `Utils.murmur2`, without its sign as in `Utils.toPositive`.
    """

    def murmur2(*columns: pd.Series) -> pd.Series:
        return hashes(columns)

    session.udf.register("murmur2", F.pandas_udf(murmur2, "int"))


def hashes(columns: tuple[pd.Series, ...]) -> pd.Series:
    """The hash of each row; keys of one length are hashed together."""
    keys = [_joined(parts) for parts in zip(*columns, strict=True)]
    result = np.zeros(len(keys), np.int64)
    lengths = np.array([-1 if key is None else len(key) for key in keys])
    for length in np.unique(lengths[lengths >= 0]):
        rows = np.flatnonzero(lengths == length)
        data = b"".join(key for row in rows if (key := keys[row]) is not None)
        result[rows] = _of_one_length(np.frombuffer(data, np.uint8).reshape(len(rows), length))
    return pd.Series(pd.array(np.where(lengths < 0, 0, result), "Int32")).mask(lengths < 0)


def _joined(parts: tuple[object, ...]) -> bytes | None:
    """The bytes of a key's parts; None if one is missing."""
    made = [part.encode() if isinstance(part, str) else part for part in parts]
    return None if any(not isinstance(part, bytes | bytearray) for part in made) else b"".join(made)  # type: ignore[arg-type]


def _of_one_length(keys: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    rows, length = keys.shape
    # Numbers of 32 bits overflow, as Java's do.
    with np.errstate(over="ignore"):
        result: _Words = np.full(rows, _SEED ^ np.uint32(length), np.uint32)
        whole = length // 4 * 4
        words = np.ascontiguousarray(keys[:, :whole]).view("<u4")
        for at in range(whole // 4):
            word: _Words = words[:, at].astype(np.uint32) * _FACTOR
            word ^= word >> np.uint32(24)
            result = result * _FACTOR ^ word * _FACTOR
        if length > whole:
            for at in range(length - 1, whole - 1, -1):
                result ^= keys[:, at].astype(np.uint32) << np.uint32(8 * (at - whole))
            result *= _FACTOR
        result ^= result >> np.uint32(13)
        result *= _FACTOR
        result ^= result >> np.uint32(15)
    return (result & np.uint32(0x7FFFFFFF)).astype(np.int64)
