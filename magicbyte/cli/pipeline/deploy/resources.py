"""The memory and cores of a driver, from Spark's properties in the file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spark_avro.pipeline.file.pipeline import Pipeline

#: Spark's own default of the heap, in MiB.
_HEAP = 1024
#: Memory beside the heap: the share of the heap, and the least in MiB. Spark's share for Python is the same. The least
#: is that of a driver with Python, Arrow and RocksDB.
_SHARE, _LEAST = 0.4, 1024
_UNITS = {"k": 1 / 1024, "m": 1.0, "g": 1024.0, "t": 1024.0 * 1024, "p": 1024.0**3}


def driver_memory(pipeline: Pipeline, properties: Mapping[str, str]) -> int:
    """The most memory of a driver with its Python, in MiB: the heap, what is beside it, and Spark's off-heap memory.

    Raises:
        PipelineError: a property is no size.
    """
    heap = _mebibytes(pipeline, properties, "spark.driver.memory", _HEAP)
    share = properties.get("spark.driver.memoryOverheadFactor", str(_SHARE))
    if not re.fullmatch(r"[0-9]*\.?[0-9]+", share):
        raise pipeline.error("spark", f"spark.driver.memoryOverheadFactor must be a number such as 0.4, not {share!r}")
    beside = max(_LEAST, heap * float(share))
    overhead = _mebibytes(pipeline, properties, "spark.driver.memoryOverhead", beside)
    has_off_heap = properties.get("spark.memory.offHeap.enabled", "").lower() == "true"
    off_heap = _mebibytes(pipeline, properties, "spark.memory.offHeap.size", 0, unit="b") if has_off_heap else 0
    return round(heap + overhead + off_heap)


def whole_number(pipeline: Pipeline, name: str, value: str) -> int:
    """A property that is a number of cores or executors.

    Raises:
        PipelineError: it is not.
    """
    if not value.isascii() or not value.isdecimal() or int(value) < 1:
        raise pipeline.error("spark", f"{name} must be a whole number of at least 1, not {value!r}")
    return int(value)


def _mebibytes(
    pipeline: Pipeline, properties: Mapping[str, str], name: str, default: float, *, unit: str = "m"
) -> float:
    """A size by Spark's rules; without a unit in the text, it has the property's own unit."""
    text = properties.get(name)
    if text is None:
        return default
    match = re.fullmatch(r"([0-9]+)([kmgtp]?)b?", text.strip().lower())
    if match is None:
        raise pipeline.error("spark", f"{name} must be a size such as 2g, not {text!r}")
    number, letter = int(match[1]), match[2]
    if not letter and (unit == "b" or text.strip().lower().endswith("b")):
        return number / 1024**2
    return number * _UNITS[letter or unit]
