"""Metrics of the process: its version, its memory and the limit on it, and the garbage collector."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from pathlib import Path

from prometheus_client import CollectorRegistry, GCCollector, ProcessCollector
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from magicbyte import __version__
from magicbyte.kit.metrics import COUNTER, GAUGE, MetricTable

TABLE = MetricTable()
BUILD_INFO = TABLE.declare(GAUGE, "magicbyte_build_info", "The version that runs; the value is 1.", "version", "python")
MEMORY_LIMIT = TABLE.declare(
    GAUGE,
    "magicbyte_memory_limit_bytes",
    "The memory that the process may use: the smallest limit of its control groups, or the machine's memory.",
)
_LINUX = "on Linux"
for _kind, _name, _text, _labels in (
    (GAUGE, "process_resident_memory_bytes", "Resident memory.", ()),
    (GAUGE, "process_virtual_memory_bytes", "Virtual memory.", ()),
    (GAUGE, "process_start_time_seconds", "When the process started, in seconds since 1970.", ()),
    (COUNTER, "process_cpu_seconds_total", "Processor time in seconds.", ()),
    (GAUGE, "process_open_fds", "Open file descriptors.", ()),
    (GAUGE, "process_max_fds", "The largest number of open file descriptors.", ()),
):
    TABLE.declare(_kind, _name, _text, *_labels, only=_LINUX)
for _name, _text in (
    ("python_gc_objects_collected_total", "Objects that the garbage collector has freed."),
    ("python_gc_objects_uncollectable_total", "Objects that it could not free."),
    ("python_gc_collections_total", "Runs of the garbage collector."),
):
    TABLE.declare(COUNTER, _name, _text, "generation")

_CGROUPS = Path("/sys/fs/cgroup")
#: The files with a limit: of version 2 and of version 1.
_LIMIT_FILES = ("memory.max", "memory/memory.limit_in_bytes", "memory.limit_in_bytes")


def memory_limit(cgroups: Path = _CGROUPS, of_process: Path = Path("/proc/self/cgroup")) -> int | None:
    """The smallest memory limit of the process in bytes, or the machine's memory; None if neither can be read.

    Args:
        cgroups: Where the control groups are mounted.
        of_process: The file that names the control group of the process.
    """
    limits = [limit for limit in (_read_limit(path) for path in _limit_paths(cgroups, of_process)) if limit is not None]
    try:
        total = next(line for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemTotal:"))
        limits.append(int(total.split()[1]) * 1024)
    except (OSError, StopIteration, ValueError):
        pass
    return min(limits, default=None)


def _limit_paths(cgroups: Path, of_process: Path) -> Iterator[Path]:
    for name in _LIMIT_FILES:
        yield cgroups / name
    try:
        lines = of_process.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        number, _, group = line.partition("::")
        if number != "0" or "\0" in group:
            continue
        folder = cgroups / group.lstrip("/")
        while folder != cgroups and cgroups in folder.parents:
            yield folder / "memory.max"
            folder = folder.parent


def _read_limit(path: Path) -> int | None:
    try:
        text = path.read_text().strip()
        return int(text)
    except (OSError, ValueError):  # "max" is no limit
        return None


class _Process(Collector):
    def __init__(self) -> None:
        # The limit is read once: a container keeps it.
        self._limit = memory_limit()

    def collect(self) -> Iterator[Metric]:
        yield BUILD_INFO.samples([((__version__, platform.python_version()), 1)])
        if self._limit is not None:
            yield MEMORY_LIMIT.single(self._limit)


def process_metrics() -> CollectorRegistry:
    """The metrics of this process."""
    registry = CollectorRegistry()
    registry.register(_Process())
    ProcessCollector(registry=registry)
    GCCollector(registry=registry)
    return registry
