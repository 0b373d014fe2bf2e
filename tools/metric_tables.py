"""The tables of docs/metrics.md, from the metrics that the code declares."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from magicbyte.http.metrics.process import TABLE as PROCESS
from magicbyte.http.routing.recorder import TABLE as REQUESTS
from magicbyte.kit.kafka.statistics import TABLE as KAFKA_CLIENTS
from magicbyte.kit.metrics import Declared, MetricTable
from magicbyte.operations.backup.metrics import TABLE as BACKUP
from magicbyte.operations.mirror.metrics import TABLE as MIRRORS
from magicbyte.security.metrics import TABLE as SECURITY
from registry.metrics import TABLE as REGISTRY
from rest_proxy.metrics import TABLE as PROXY
from spark_avro.pipeline.run.metrics import TABLE as PIPELINES

#: The tables with the metrics of each program.
PROGRAMS = {
    "registry": (REQUESTS, PROCESS, SECURITY, KAFKA_CLIENTS, REGISTRY),
    "rest proxy": (REQUESTS, PROCESS, SECURITY, KAFKA_CLIENTS, PROXY),
    "pipeline": (PIPELINES,),
    "backup": (BACKUP,),
    "mirror": (MIRRORS,),
}
_CONFLUENT = "kafka_schema_registry_"


def declared(*tables: MetricTable) -> list[Declared]:
    """All metrics of some tables."""
    return [metric for table in tables for metric in table.declared]


def is_confluents(metric: Declared) -> bool:
    """Tell whether a metric has a name of Confluent's."""
    return metric.name.startswith(_CONFLUENT)


def _table(metrics: Iterable[Declared]) -> str:
    lines = ["| Metric | Type | Labels | Meaning |", "|---|---|---|---|"]
    for metric in metrics:
        labels = ", ".join(f"`{label}`" for label in metric.labels)
        text = f"{metric.text} Only {metric.only}." if metric.only else metric.text
        lines.append(f"| `{metric.name}` | {metric.kind} | {labels} | {text} |")
    return "\n".join(lines) + "\n"


def _current(*tables: MetricTable) -> Callable[[], str]:
    return lambda: _table(metric for metric in declared(*tables) if not is_confluents(metric))


def _confluents() -> str:
    return _table(filter(is_confluents, declared(REGISTRY)))


#: Name of the mark -> the table there.
METRICS: dict[str, Callable[[], str]] = {
    "requests": _current(REQUESTS),
    "registry": _current(REGISTRY),
    "proxy": _current(PROXY),
    "pipelines": _current(PIPELINES),
    "mirrors": _current(MIRRORS),
    "security": _current(SECURITY),
    "process": _current(PROCESS),
    "kafka clients": _current(KAFKA_CLIENTS),
    "backup": _current(BACKUP),
    "confluent": _confluents,
}
