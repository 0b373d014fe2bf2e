"""The memory and cores of a driver, from Spark's properties in the file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spark_avro.pipeline.file.pipeline import Pipeline

#: Spark's own default of the heap, in MiB.
_HEAP = 1024
#: Memory beside the heap: its share of the heap, which is Spark's own share for programs in Python, and the least in
#: MiB, which a driver with Python, Arrow and RocksDB needs.
_SHARE, _LEAST = 0.4, 1024
#: The memory of a Python worker with batches of Arrow, in MiB. With a local master, each core has a worker.
_WORKER = 512
#: The properties that decide the memory of the unit.
MEMORY = frozenset(
    {
        "spark.driver.cores",
        "spark.driver.memory",
        "spark.driver.memoryOverhead",
        "spark.driver.memoryOverheadFactor",
        "spark.master",
        "spark.memory.offHeap.enabled",
        "spark.memory.offHeap.size",
    }
)
_UNITS = {"k": 1 / 1024, "m": 1.0, "g": 1024.0, "t": 1024.0 * 1024, "p": 1024.0**3}


def local_workers(pipeline: Pipeline, properties: Mapping[str, str], master: str) -> int | None:
    """The number of Python workers beside the driver: 0 if the master is not local; None if the processors decide.

    Raises:
        PipelineError: `spark.driver.cores` is not a whole number.
    """
    master = properties.get("spark.master", master)
    if not master.startswith("local"):
        return 0
    if master == "local":
        return 1
    cores = master.removeprefix("local[").rstrip("]").partition(",")[0]
    if cores.isdecimal():
        return int(cores)
    quota = properties.get("spark.driver.cores")
    return whole_number(pipeline, "spark.driver.cores", quota) if quota is not None and cores == "*" else None


def driver_memory(pipeline: Pipeline, properties: Mapping[str, str], workers: int) -> int:
    """The most memory of a driver and its Python, in MiB.

    This is the heap, the memory beside it, and Spark's off-heap memory.

    Args:
        pipeline: The file, for errors.
        properties: Spark's properties.
        workers: How many Python workers run beside the driver. `spark.driver.memoryOverhead` includes their memory.

    Raises:
        PipelineError: a property is no size.
    """
    heap = _mebibytes(pipeline, properties, "spark.driver.memory", _HEAP)
    share = properties.get("spark.driver.memoryOverheadFactor", str(_SHARE))
    if not re.fullmatch(r"[0-9]*\.?[0-9]+", share):
        raise pipeline.error("spark", f"spark.driver.memoryOverheadFactor must be a number such as 0.4, not {share!r}")
    beside = max(_LEAST, heap * float(share)) + workers * _WORKER
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
