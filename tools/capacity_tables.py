"""The tables of docs/capacity.md, from the measured figures of magicbyte/cli/capacity/figures.json."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from magicbyte.cli.capacity.estimate import HEADROOM
from magicbyte.cli.capacity.figures import Figures


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(row)} |\n" for row in rows]
    return f"| {' | '.join(head)} |\n|{'---:|' * len(head)}\n" + "".join(lines)


def machine_table(figures: Figures) -> str:
    """The machine and the day of the run."""
    facts = {**figures.machine, "date": figures.date}
    return "| fact | value |\n|---|---|\n" + "".join(f"| {name} | {value} |\n" for name, value in facts.items())


def schemas_table(figures: Figures) -> str:
    """A registry by the number of its schemas."""
    head = ("schemas", "text MB", "topic MB", "RSS MB", "until it reads, s", "then until it writes, s")
    return _table(
        head,
        (
            (
                f"{row.schemas:,}",
                f"{row.text_mb:.1f}",
                f"{row.topic_mb:.1f}",
                f"{row.rss_mb:.0f}",
                f"{row.ready_seconds:.2f}",
                f"{row.first_write_seconds:.2f}",
            )
            for row in figures.schemas
        ),
    )


def clients_table(figures: Figures) -> str:
    """Registrations by the number of clients."""
    rows = ((f"{row.clients}", f"{row.per_second:,.0f}", f"{row.p50_ms:.1f}") for row in figures.clients)
    return _table(("clients", "registrations/s", "p50 ms"), rows)


def reads_table(figures: Figures) -> str:
    """GETs for each core."""
    rows = ((f"`{row.path}`", f"{row.per_core:,.0f}", f"{row.p99_ms:.1f}") for row in figures.reads)
    return _table(("request", "requests/s a core", "p99 ms"), rows)


def records_table(figures: Figures) -> str:
    """Records through the proxy, by format and batch."""
    rows = ((row.format, f"{row.batch}", f"{row.per_second:,.0f}", f"{row.per_core:,.0f}") for row in figures.records)
    return _table(("format", "records a request", "records/s", "records/s a core"), rows)


def instances_table(figures: Figures) -> str:
    """The proxy's memory, by idle consumer instances."""
    return _table(("instances", "RSS MB"), ((f"{row.instances:,}", f"{row.rss_mb:.0f}") for row in figures.instances))


def rules(figures: Figures) -> str:
    """The rules of thumb, from the slopes."""
    return "".join(f"- {rule}\n" for rule in rules_of(figures))


def rules_of(figures: Figures) -> list[str]:
    """The rules of thumb of some figures."""
    memory, topic, ready = (figures.slope(name) for name in ("rss_mb", "topic_mb", "ready_seconds"))
    read = min(figures.reads, key=lambda row: row.per_core)
    write = max(figures.clients, key=lambda row: row.per_second)
    instance = figures.of_instances()
    return [
        f"A registry node takes {memory.at_zero:.0f} MB, and {memory.each * 1000:.2f} MB more for 1,000 schemas.",
        f"Its topic takes {topic.each * 1000:.2f} MB for 1,000 schemas on each replica, before compaction.",
        f"It reads {ready.at_zero:.1f} s after its start, and {ready.each * 1e5:.1f} s later for 100,000 schemas.",
        f"One core serves {read.per_core:,.0f} reads a second. Followers serve reads, too.",
        f"The leader writes at most {write.per_second:,.0f} new schemas a second. Followers do not add to that.",
        f"A REST proxy takes {instance.at_zero:.0f} MB, and {instance.each * 100:.0f} MB more for 100 instances.",
        f"Set memory limits to {HEADROOM:g} times the estimate.",
    ]


#: Name of the mark in docs/capacity.md -> its table.
TABLES: Mapping[str, Callable[[Figures], str]] = {
    "rules": rules,
    "machine": machine_table,
    "schemas": schemas_table,
    "registrations": clients_table,
    "reads": reads_table,
    "records": records_table,
    "instances": instances_table,
}
