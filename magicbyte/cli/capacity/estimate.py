"""An estimate of the servers and resources for a load, from the measured slopes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from magicbyte.cli.capacity.figures import Figures

#: Memory limits are set this much above the estimate: other schemas, open connections, a burst.
HEADROOM = 1.5
#: Memory limits are rounded up to a multiple of this, in MB.
_STEP = 64
#: How many consumer instances fit into a REST proxy; rest_proxy/consume/consumers/instance_limit.py says why.
MOST_INSTANCES = 960
#: Part of a core that the estimate fills; the rest is for bursts.
_BUSY = 0.6


@dataclass(frozen=True, slots=True)
class Load:
    """The load that the servers must carry.

    Attributes:
        schemas: Versions in the registry.
        rps: Requests a second that read from the registry.
        registrations: New schemas a second.
        records: Records a second through the REST proxy.
        instances: Consumer instances of the REST proxy at a time.
    """

    schemas: int = 0
    rps: float = 0.0
    registrations: float = 0.0
    records: float = 0.0
    instances: int = 0


@dataclass(frozen=True, slots=True)
class Need:
    """One line of an estimate: the server, what it needs, how much, the unit, and what the reader should know."""

    server: str
    what: str
    amount: float
    unit: str
    note: str = ""


def needs(load: Load, figures: Figures) -> list[Need]:
    """Return what a load needs.

    Args:
        load: What is to be served.
        figures: The measured figures.
    """
    lines = [*_of_registry(load, figures)]
    if load.records or load.instances:
        lines += _of_proxy(load, figures)
    return lines


def _of_registry(load: Load, figures: Figures) -> Iterator[Need]:
    far = _beyond(load.schemas, figures.schemas[-1].schemas, "schemas")
    memory = figures.slope("rss_mb").at(load.schemas)
    yield Need("registry", "memory of a node", memory, "MB", far)
    yield Need("registry", "memory limit of a node", limit(memory), "MB", f"{HEADROOM:g} times the memory")
    yield Need("registry", "topic on a broker's disk", figures.slope("topic_mb").at(load.schemas), "MB", far)
    yield Need("registry", "start until it reads", figures.slope("ready_seconds").at(load.schemas), "s", far)
    until_written = figures.slope("first_write_seconds").at(load.schemas)
    yield Need("registry", "and until it writes", until_written, "s", "of a node that becomes the leader")
    if load.rps:
        slowest = min(figures.reads, key=lambda row: row.per_core)
        cores = load.rps / slowest.per_core / _BUSY
        yield Need("registry", "cores for reads", cores, "cores", f"at {_BUSY:.0%} load; followers share them")
    if load.registrations:
        best = max(figures.clients, key=lambda row: row.per_second)
        share = load.registrations / best.per_second
        note = f"of {best.per_second:.0f}/s with {best.clients} clients; one leader writes"
        if share > 1:
            note += ": MORE than one registry can write"
        yield Need("registry", "the leader's write capacity", share * 100, "%", note)


def _of_proxy(load: Load, figures: Figures) -> Iterator[Need]:
    proxies = max(1, math.ceil(load.instances / MOST_INSTANCES))
    if proxies > 1:
        yield Need("rest-proxy", "processes", proxies, "", f"each has at most {MOST_INSTANCES} consumer instances")
    instances = math.ceil(load.instances / proxies)
    memory = figures.of_instances().at(instances)
    far = _beyond(instances, figures.instances[-1].instances, "instances")
    yield Need("rest-proxy", "memory of a process", memory, "MB", far)
    yield Need(
        "rest-proxy", "memory limit of a process", limit(memory), "MB", f"{HEADROOM:g} times the memory, and its buffer"
    )
    if load.records:
        for row in figures.records:
            cores = load.records / row.per_core / _BUSY
            yield Need(
                "rest-proxy", f"cores, {row.format}, {row.batch} a request", cores, "cores", f"at {_BUSY:.0%} load"
            )


def limit(memory: float) -> float:
    """Return a memory limit in MB for an estimate in MB."""
    return math.ceil(memory * HEADROOM / _STEP) * _STEP


def _beyond(count: int, measured: int, noun: str) -> str:
    return f"beyond the {measured:,} {noun} that were measured" if count > measured else ""
