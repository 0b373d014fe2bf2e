"""Common parts of the benchmarks: servers to measure, loads to drive at them, and tables of median and spread.

Figures of one run may be compared, figures of different runs may not. So what is to be compared is measured in turn,
several times over, and quoted as the median with its least and greatest value, and as a ratio.
"""

from __future__ import annotations

import base64
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

_CLOCK_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Target:
    """A server to measure; without a process id (somebody else's URL) its CPU and memory are not told."""

    name: str
    url: str
    pid: int | None = None

    def cpu_seconds(self) -> float:
        """User and system time of the process and its children, in seconds."""
        return sum(_cpu_seconds(pid) for pid in _family(self.pid)) if self.pid else 0.0

    def rss_mb(self) -> float:
        """Resident memory of the process and its children, in MB."""
        return sum(_rss_bytes(pid) for pid in _family(self.pid)) / 1e6 if self.pid else 0.0


def _family(pid: int) -> Iterator[int]:
    yield pid
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            yield from _family(int(child))


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _CLOCK_TICKS


def _rss_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_BYTES


@dataclass(frozen=True, slots=True)
class Sample:
    """One measurement; times in ms and in microseconds of CPU for each request."""

    per_second: float
    p50_ms: float
    p99_ms: float
    cpu_us: float
    rss_mb: float
    failures: int = 0


@dataclass(frozen=True, slots=True)
class Load:
    """Requests that a number of clients send in turn."""

    clients: int
    requests: Sequence[bytes]
    seconds: float = 2.0

    def drive(self, target: Target) -> Sample:
        """Send the load from another process and measure."""
        address = urlsplit(target.url)
        specification = {
            "host": address.hostname,
            "port": address.port,
            "clients": self.clients,
            "seconds": self.seconds,
            "requests": [base64.b64encode(request).decode() for request in self.requests],
        }
        before = target.cpu_seconds()
        command = [sys.executable, "-P", str(Path(__file__).with_name("load.py"))]
        finished = subprocess.run(
            command, input=json.dumps(specification), text=True, check=True, stdout=subprocess.PIPE
        )
        result = json.loads(finished.stdout)
        cpu = target.cpu_seconds() - before
        return Sample(
            result["requests"] / result["seconds"],
            result["p50_ms"],
            result["p99_ms"],
            cpu / result["requests"] * 1e6,
            target.rss_mb(),
            result["failures"],
        )


def interpreters(before: str | None) -> dict[str, str]:
    """The interpreters whose servers are measured, by name: ours, and that of the checkout `before` if one is given."""
    ours = {"magicbyte": sys.executable}
    return ours if before is None else {**ours, "before": str(Path(before).absolute() / ".venv" / "bin" / "python")}


def request(method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None) -> bytes:
    """The bytes of an HTTP/1.1 request."""
    named = {"Host": "localhost", **({"Content-Length": str(len(body))} if body else {}), **(headers or {})}
    head = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body


def interleaved(measures: Mapping[str, Callable[[], Sample]], repeats: int) -> dict[str, list[Sample]]:
    """Measure each in turn, over and over, so that a drift of the machine's speed meets all of them.

    Each round begins with another one: what follows bare librdkafka meets a broker that is still busy, for example.
    """
    samples: dict[str, list[Sample]] = {name: [] for name in measures}
    names = list(measures)
    for number in range(repeats):
        first = number % len(names)
        for name in (*names[first:], *names[:first]):
            samples[name].append(measures[name]())
    return samples


def print_table(title: str, samples: Mapping[str, Sequence[Sample]], base: str | None = None) -> None:
    """Print the median of each figure with its spread, and the ratio of CPU and rate to a base row's."""
    print(f"\n{title}")
    width = max(map(len, samples))
    print(f"{'':{width}}  {'requests/s':>24} {'p50 ms':>9} {'p99 ms':>9} {'CPU us/req':>20} {'RSS MB':>8}  to base")
    for name, taken in samples.items():
        rates = [sample.per_second for sample in taken]
        cpus = [sample.cpu_us for sample in taken]
        p50, p99 = (statistics.median(getattr(sample, field) for sample in taken) for field in ("p50_ms", "p99_ms"))
        failed = sum(sample.failures for sample in taken)
        print(
            f"{name:{width}}  {spread(rates):>24} {p50:>9.2f} {p99:>9.2f} {spread(cpus):>20} "
            f"{max(sample.rss_mb for sample in taken):>8.0f}  {_ratio(samples, name, base)}"
            + (f"  {failed} FAILED" if failed else "")
        )


def spread(values: Sequence[float]) -> str:
    """`median (least-greatest)`."""
    return f"{statistics.median(values):.0f} ({min(values):.0f}-{max(values):.0f})"


def _ratio(samples: Mapping[str, Sequence[Sample]], name: str, base: str | None) -> str:
    if base is None or name == base:
        return ""
    pairs = list(zip(samples[name], samples[base], strict=True))
    rate = statistics.median(mine.per_second / its.per_second for mine, its in pairs)
    if not all(its.cpu_us and mine.cpu_us for mine, its in pairs):
        return f"{rate:.2f}x rate"
    cpu = statistics.median(mine.cpu_us / its.cpu_us for mine, its in pairs)
    return f"{rate:.2f}x rate, {cpu:.2f}x CPU"


@contextmanager
def raw_asgi(body: bytes, media_type: str) -> Iterator[Target]:
    """A bare ASGI function on the same server that answers every request with one body: the floor."""
    source = (
        "import sys, uvicorn\n"
        f"BODY = {body!r}\n"
        f"HEADERS = [(b'content-type', {media_type.encode()!r}), (b'content-length', str(len(BODY)).encode())]\n"
        "async def app(scope, receive, send):\n"
        "    await send({'type': 'http.response.start', 'status': 200, 'headers': HEADERS})\n"
        "    await send({'type': 'http.response.body', 'body': BODY})\n"
        "uvicorn.run(app, port=int(sys.argv[1]), log_level='critical', access_log=False, lifespan='off',"
        " server_header=False, date_header=False)\n"
    )
    with serving("raw ASGI", "-c", source) as target:
        yield target


@contextmanager
def serving(name: str, *arguments: str) -> Iterator[Target]:
    """A server in a Python process of its own, which takes the port that it listens on as its last argument."""
    from magicbyte.platform.broker import free_port

    port = free_port()
    process = subprocess.Popen([sys.executable, "-P", *arguments, str(port)])
    try:
        wait_until_open(port)
        yield Target(name, f"http://127.0.0.1:{port}", process.pid)
    finally:
        process.terminate()
        process.wait()


def wait_until_open(port: int) -> None:
    """Wait until something listens on a port of the loopback."""
    import socket
    import time

    for _ in range(500):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise TimeoutError(f"nothing listens on {port}")
