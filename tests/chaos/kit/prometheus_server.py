"""A real Prometheus with our rules, whose times are shortened, and the alerts that it reports."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import yaml

from magicbyte.platform.broker import free_port
from tests.metrics import prometheus
from tests.metrics.expressions import RULES

_SECONDS = {"s": 1, "m": 60, "h": 3600}
#: While no broker answers, a scrape takes up to 3 s.
_SCRAPE_SECONDS = 4
_LOOK_SECONDS = 0.5


def shortened(rules: str, factor: float) -> dict[str, Any]:
    """The rules, with each `for` and each range divided by a factor; thresholds stay as they are."""

    def short(match: re.Match[str]) -> str:
        milliseconds = round(int(match[1]) * _SECONDS[match[2]] * 1000 / factor)
        # A rate needs several scrapes.
        return f"[{max(milliseconds, 4000 * _SCRAPE_SECONDS)}ms]"

    value: dict[str, Any] = yaml.safe_load(re.sub(r"\[(\d+)([smh])\]", short, rules))
    for group in value["groups"]:
        for rule in group["rules"]:
            match = re.fullmatch(r"(\d+)([smh])", rule.get("for", "0s"))
            assert match is not None
            rule["for"] = f"{round(int(match[1]) * _SECONDS[match[2]] * 1000 / factor)}ms"
    return value


class Prometheus:
    """A running Prometheus."""

    def __init__(self, url: str) -> None:
        self.url = url

    def firing(self) -> frozenset[str]:
        """The names of the alerts that fire now."""
        found = httpx.get(f"{self.url}/api/v1/alerts", timeout=30).json()["data"]["alerts"]
        return frozenset(alert["labels"]["alertname"] for alert in found if alert["state"] == "firing")

    def wait_for(self, holds: Callable[[frozenset[str]], bool], seconds: float, seen: set[str]) -> bool:
        """Wait until the firing alerts are as they should be.

        Args:
            holds: Whether they are.
            seconds: How long to wait.
            seen: Takes all alerts that fire meanwhile.
        """
        deadline = time.monotonic() + seconds
        while True:
            firing = self.firing()
            seen |= firing
            if holds(firing):
                return True
            if time.monotonic() > deadline:
                return False
            time.sleep(_LOOK_SECONDS)


@contextmanager
def running_prometheus(folder: Path, targets: Mapping[str, Sequence[str]], factor: float) -> Iterator[Prometheus]:
    """Scrape servers and evaluate the rules until the block ends.

    Args:
        folder: For the configuration, the data and the log.
        targets: Job -> addresses.
        factor: By which the times of the rules are divided.
    """
    program = prometheus.find("prometheus")
    assert program is not None, prometheus.MISSING
    (folder / "rules.yml").write_text(yaml.safe_dump(shortened(RULES.read_text(encoding="utf-8"), factor)))
    jobs = [
        {"job_name": job, "static_configs": [{"targets": list(addresses), "labels": {"cluster": "chaos"}}]}
        for job, addresses in targets.items()
    ]
    interval = f"{_SCRAPE_SECONDS}s"
    config = {
        "global": {"scrape_interval": interval, "scrape_timeout": interval, "evaluation_interval": "1s"},
        "rule_files": ["rules.yml"],
        "scrape_configs": jobs,
    }
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
    address = f"127.0.0.1:{free_port()}"
    command = [
        program,
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address={address}",
    ]
    with (folder / "prometheus.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            _wait_until_ready(f"http://{address}", process)
            yield Prometheus(f"http://{address}")
        finally:
            process.terminate()
            process.wait(30)


def _wait_until_ready(url: str, process: subprocess.Popen[bytes]) -> None:
    while True:
        try:
            if httpx.get(f"{url}/-/ready").status_code == 200:
                return
        except httpx.TransportError:
            pass
        assert process.poll() is None, "Prometheus has ended; see its log"
        time.sleep(0.1)
