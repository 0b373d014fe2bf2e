"""Panels, their parts, and the rows that both servers have."""

from __future__ import annotations

from typing import NamedTuple

#: Grafana's names of units.
SECONDS, BYTES, PER_SECOND, BYTES_PER_SECOND, COUNT, RATIO = "s", "bytes", "reqps", "Bps", "short", "percentunit"
#: The targets that the variables at the top choose.
OF = 'cluster="$cluster",instance=~"$instance"'


class Panel(NamedTuple):
    """A panel: its title, its unit, its lines (legend, expression), and a note on how to read it."""

    title: str
    unit: str
    lines: tuple[tuple[str, str], ...]
    note: str = ""


class Row(NamedTuple):
    """Panels under a title."""

    title: str
    panels: tuple[Panel, ...]


def rate(metric: str, more: str = "") -> str:
    """The rate of a counter."""
    return f"rate({metric}{{{OF}{more}}}[$__rate_interval])"


def sum_by(by: str, metric: str, more: str = "") -> str:
    """The sum of rates by some labels."""
    return f"sum by ({by}) ({rate(metric, more)})"


def quantiles(metric: str, more: str = "") -> tuple[tuple[str, str], ...]:
    """The lines of the median and the 99th percentile of a histogram."""
    return tuple(
        (f"p{share * 100:g}", f"histogram_quantile({share}, {sum_by('le', f'{metric}_bucket', more)})")
        for share in (0.5, 0.99)
    )


def gauge(metric: str, legend: str = "{{instance}}") -> tuple[tuple[str, str], ...]:
    """The lines of a gauge."""
    return ((legend, f"{metric}{{{OF}}}"),)


def requests(app: str, read_routes: str) -> Row:
    """The row of requests."""
    of_app = f',app="{app}"'
    return Row(
        "Requests",
        (
            Panel(
                "Requests by status",
                PER_SECOND,
                (("{{status}}", sum_by("status", "magicbyte_http_requests_total", of_app)),),
            ),
            Panel(
                "Failed writes",
                RATIO,
                (
                    (
                        "5xx",
                        sum_by("cluster", "magicbyte_http_requests_total", f'{of_app},method!="GET",status=~"5.."')
                        + " / "
                        + sum_by("cluster", "magicbyte_http_requests_total", f'{of_app},method!="GET"'),
                    ),
                ),
                "Above 1 % for ten minutes, MagicbyteWriteErrors fires.",
            ),
            Panel("Open requests", COUNT, (("{{instance}}", f"magicbyte_http_requests_in_progress{{{OF}{of_app}}}"),)),
            Panel(
                "Time of reads",
                SECONDS,
                quantiles("magicbyte_http_request_seconds", f'{of_app},method="GET"{read_routes}'),
            ),
            Panel(
                "Time of writes",
                SECONDS,
                quantiles("magicbyte_http_request_seconds", f'{of_app},method=~"POST|PUT|DELETE"'),
            ),
            Panel(
                "Busiest routes",
                PER_SECOND,
                (
                    (
                        "{{method}} {{route}}",
                        f"topk(8, {sum_by('method, route', 'magicbyte_http_requests_total', of_app)})",
                    ),
                ),
            ),
        ),
    )


PROCESS = Row(
    "Process",
    (
        Panel(
            "Memory",
            BYTES,
            (
                *gauge("process_resident_memory_bytes"),
                *gauge("magicbyte_memory_limit_bytes", "limit of {{instance}}"),
            ),
        ),
        Panel("Processor time", RATIO, (("{{instance}}", rate("process_cpu_seconds_total")),), "1 is one core."),
        Panel("Open files", COUNT, gauge("process_open_fds")),
        Panel(
            "Versions",
            COUNT,
            (("{{version}} on Python {{python}}", f"count by (version, python) (magicbyte_build_info{{{OF}}})"),),
        ),
        Panel(
            "Garbage collections",
            PER_SECOND,
            (("generation {{generation}}", sum_by("generation", "python_gc_collections_total")),),
        ),
        Panel(
            "Sign-ins",
            PER_SECOND,
            (("{{method}} {{outcome}}", sum_by("method, outcome", "magicbyte_authentication_total")),),
        ),
    ),
)
