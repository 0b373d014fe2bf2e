"""The pipelines as rows: what their metrics ports and their markers tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from magicbyte.ui.pipelines.figures import PipelineFigures
from magicbyte.ui.pipelines.health import RunHealth
from magicbyte.ui.pipelines.marker_book import LastChange, MarkerBook, SinkMarker
from magicbyte.ui.pipelines.ports import PortAnswer

#: Longer lists of a single pipeline are cut, and the row says how many items are left out.
_MOST_TOPICS, _MOST_PARTITIONS, _MOST_OTHERS = 200, 10_000, 1_000
#: What a row has without an answer of a port.
_UNTOLD: dict[str, Any] = {"health": None, "figures": None, "figuresAt": None}


def rows_of(answers: Sequence[PortAnswer], book: MarkerBook | None) -> list[dict[str, Any]]:
    """A row for each pipeline, by name; ports that no pipeline is known of come last.

    Args:
        answers: What the ports said.
        book: The markers; None if the sender sees none.
    """
    sinks = {} if book is None else book.sinks()
    changes = {} if book is None else book.changes()
    rows = [row for answer in answers for row in _of_port(answer)]
    known = {row["name"] for row in rows}
    others = [name for name in {**sinks, **changes} if name not in known]
    rows += [{"name": name, "address": None, "state": "marker", "reason": "", **_UNTOLD} for name in others]
    for row in rows:
        change = changes.get(row["name"])
        row["sinks"] = [_of_sink(sink) for sink in sinks.get(row["name"], ())]
        row["change"] = None if change is None else _of_change(change)
    return sorted(rows, key=lambda row: (row["name"] is None, row["name"] or "", row["address"] or ""))


def without_details(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the list, without what only the view of one pipeline shows."""
    figures = row["figures"]
    if figures is not None:
        figures = {name: value for name, value in figures.items() if name not in ("partitions", "steps", "schemaIds")}
    sinks = [{name: value for name, value in sink.items() if name != "inputs"} for sink in row["sinks"]]
    return {**row, "figures": figures, "sinks": sinks}


def _of_port(answer: PortAnswer) -> Iterator[dict[str, Any]]:
    """The rows of a port: of the pipelines in its metrics, or of the port itself if none is known."""
    expected, health = answer.port.pipeline, answer.health
    names = list(answer.figures)
    if health is not None and health.pipeline not in names:
        names.append(health.pipeline)
    if expected and expected not in names:
        reason = answer.problem or f"the port answers for {', '.join(names)}"
        yield {"name": expected, "address": answer.port.url, "state": "unreachable", "reason": reason, **_UNTOLD}
    elif not names:
        yield {"name": None, "address": answer.port.url, "state": "unreachable", "reason": answer.problem, **_UNTOLD}
    for name in names:
        own = health if health is not None and health.pipeline == name else None
        figures = answer.figures.get(name)
        if own is None:
            state, reason = "unreachable", answer.problem or f"/health is that of {health and health.pipeline}"
        else:
            state, reason = "healthy" if own.healthy else "unhealthy", own.reason
        yield {
            "name": name,
            "address": answer.port.url,
            "state": state,
            "reason": reason,
            "health": None if own is None else _of_health(own),
            "figures": None if figures is None else _of_figures(figures),
            "figuresAt": answer.answered_at,
        }


def _of_health(health: RunHealth) -> dict[str, Any]:
    return {"status": health.status, "idleSeconds": health.idle, "batch": health.batch}


def _of_figures(figures: PipelineFigures) -> dict[str, Any]:
    lag: dict[str, Any] = {}
    for (topic, _), records in figures.lag.items():
        lag[topic] = lag.get(topic, 0) + records
    partitions = [
        {"topic": topic, "partition": partition, "records": records}
        for (topic, partition), records in sorted(figures.lag.items())
    ]
    return {
        "batch": figures.batch,
        "writtenAt": figures.written_at,
        "seconds": figures.seconds,
        "rows": _first(figures.rows),
        "lag": sum(figures.lag.values()) if figures.lag else None,
        "lagByTopic": _first(lag, _MOST_TOPICS),
        "topicsLeftOut": max(0, len(lag) - _MOST_TOPICS),
        "partitions": partitions[:_MOST_PARTITIONS],
        "lagSeconds": figures.lag_seconds,
        "eventTime": figures.event_time,
        "failedChecks": _first(figures.failed),
        "schemaIds": _first(figures.ids),
        "restarts": figures.restarts,
        "late": figures.late,
        "steps": [
            {"operator": name, "rows": step.rows, "bytes": step.size, "late": step.late}
            for name, step in list(figures.steps.items())[:_MOST_OTHERS]
        ],
        "unmatched": _first(figures.unmatched),
        "watermark": figures.watermark,
        "beganAt": figures.began,
        "file": figures.about.get("file"),
        "sinks": figures.about.get("sinks"),
        "deadLetters": figures.about.get("dead_letters"),
    }


def _first(table: dict[str, Any], most: int = _MOST_OTHERS) -> dict[str, Any]:
    return dict(list(table.items())[:most])


def _of_sink(marker: SinkMarker) -> dict[str, Any]:
    inputs = [
        {"topic": topic, "partition": partition, "next": end}
        for (topic, partition), end in sorted(marker.last.ends.items())
    ]
    return {
        "sink": marker.sink,
        "query": marker.query,
        "batch": marker.last.batch,
        "time": marker.last.time,
        "written": marker.last.written,
        "refused": marker.last.refused,
        "writers": marker.writers,
        "behind": marker.behind,
        "inputs": inputs[:_MOST_PARTITIONS],
    }


def _of_change(change: LastChange) -> dict[str, Any]:
    return {
        "time": change.time,
        "batch": change.batch,
        "schemas": dict(list(change.schemas.items())[:_MOST_OTHERS]),
        "statements": list(change.statements[:_MOST_OTHERS]),
    }
