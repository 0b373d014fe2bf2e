"""The limits on consumer instances: open files, threads and thread-specific keys of this process."""

from __future__ import annotations

import logging
import os
import resource
from dataclasses import dataclass
from pathlib import Path

log = logging.getLogger("rest_proxy")

#: The file descriptors that a librdkafka consumer uses with one broker, and those reserved for everything else.
_DESCRIPTORS_A_CONSUMER = 12
_RESERVED_DESCRIPTORS = 256
#: The Python client of librdkafka takes one for each client that it makes. Producers and administration take some, too.
_THREAD_KEYS = os.sysconf("SC_THREAD_KEYS_MAX")
_RESERVED_KEYS = 64
#: The most threads that a consumer has at its start, and those reserved for everything else: librdkafka ends the
#: process if it cannot start one of its threads.
_THREADS_A_CONSUMER = 16
_RESERVED_THREADS = 64
#: The kernel maps a stack and its guard page for each thread.
_MAPPINGS_A_THREAD = 2
_THREAD_LIMITS = (
    ("pids.max of the container", Path("/sys/fs/cgroup/pids.max"), 1),
    ("kernel.threads-max", Path("/proc/sys/kernel/threads-max"), 1),
    ("vm.max_map_count", Path("/proc/sys/vm/max_map_count"), _MAPPINGS_A_THREAD),
)


@dataclass(frozen=True, slots=True)
class InstanceLimit:
    """The most consumer instances of this process.

    Attributes:
        instances: The number.
        by: What it comes from: the setting, or a limit of the system.
    """

    instances: int
    by: str


def instance_limit(requested: int) -> InstanceLimit:
    """The limit on consumer instances: the requested one, or less if fewer fit; 0 for as many as fit."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    fits = min(
        (
            max(1, (files - _RESERVED_DESCRIPTORS) // _DESCRIPTORS_A_CONSUMER),
            f"the limit of open files, ulimit -n {files}",
        ),
        (_THREAD_KEYS - _RESERVED_KEYS, f"the C library's {_THREAD_KEYS:,} thread-specific keys of a process"),
    )
    if not requested:
        return InstanceLimit(*fits)
    most, by = fits
    if requested > most:
        log.warning(
            "consumer.instances.max=%d cannot be kept: %d instances fit (%s)",
            requested,
            most,
            by,
            extra={"event": "consumer_instances_limited", "requested": requested, "fits": most},
        )
        return InstanceLimit(most, by)
    return InstanceLimit(requested, "consumer.instances.max")


def shortage() -> str:
    """Return the limit that keeps this process from opening a further instance, as text; empty if there is none."""
    return _shortage_of_files() or _shortage_of_threads()


def _shortage_of_files() -> str:
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return ""
    try:
        with os.scandir("/dev/fd") as entries:
            count = sum(1 for _ in entries)
    except OSError:
        # No descriptor is left for listing the folder.
        count = files
    # A low limit on files gives connections a share of it, too.
    needed = count + _DESCRIPTORS_A_CONSUMER + min(_RESERVED_DESCRIPTORS, files // 4)
    return f"{count} files are open, and the limit of open files (ulimit -n) is {files}." if needed > files else ""


def _shortage_of_threads() -> str:
    threads = _thread_count()
    needed = threads + _THREADS_A_CONSUMER + _RESERVED_THREADS
    for name, path, uses in _THREAD_LIMITS:
        most = _number_in(path)
        if most is not None and needed * uses > most:
            return f"this process has {threads} threads, and {name} is {most}."
    processes, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    # The kernel does not hold root to this limit.
    if os.geteuid() != 0 and processes != resource.RLIM_INFINITY and needed > processes:
        return f"this process has {threads} threads, and the limit of processes (ulimit -u) is {processes}."
    return ""


def _thread_count() -> int:
    try:
        # The 20th field; the 2nd is the command in parentheses.
        return int(Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()[17])
    except (OSError, ValueError, IndexError):
        return 0


def _number_in(path: Path) -> int | None:
    """The number in a file of the kernel; None if there is none, or no limit."""
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
