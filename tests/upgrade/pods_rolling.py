"""A rolling update of three registry pods under reads and writes, by processes that get what Kubernetes would send.

    python -P tests/upgrade/pods_rolling.py [--rounds 2] [--pre-stop 5] [--gap 2] [--seed 1]

There is no cluster: each pod is a process with the node id and the settings of the chart's. As with a StatefulSet, the
pods are replaced one by one, from the last to the first. A pod leaves the endpoints of the Service when its deletion
begins, which clients learn a second later. Meanwhile preStop sleeps; then the process gets SIGTERM, and has the rest of
the grace period. After a gap for scheduling, it starts with the same node id; it gets requests again when its readiness
probe succeeds, and only then the next pod is deleted.

Clients send each request once, to one of the endpoints. Ends with 1 if a read or write failed, if a write took longer
than two seconds, or if a pod does not show each answered write.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http import HTTPStatus

import httpx

from magicbyte.platform.broker import free_port
from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import running_registry, temporary_broker
from tests.upgrade.registry_rolling import check_versions
from tests.upgrade.service_clients import Clients, Service

PODS = 3

#: The longest wait of a write, in seconds.
LONGEST_WRITE = 2.0

#: How long it takes until the clients of a Service know of a change of its endpoints, in seconds.
_PROPAGATION = 1.0

#: The chart's terminationGracePeriodSeconds.
_GRACE = 60


@dataclass(frozen=True, slots=True)
class Pace:
    """Times of a rolling update, in seconds.

    Attributes:
        pre_stop: the sleep of preStop.
        gap: between the end of a process and the start of the next: scheduling, and starting a container.
    """

    pre_stop: float = 5
    gap: float = 2


@contextmanager
def running_pods(bootstrap_servers: str) -> Iterator[list[ServerProcess]]:
    """Three pods as the chart configures them, all ready."""
    ports = [free_port() for _ in range(PODS)]
    urls = ",".join(f"http://127.0.0.1:{port}" for port in ports)
    with ExitStack() as stack:
        pods = []
        for number, port in enumerate(ports):
            properties = {
                "magicbyte.node.id": f"r-magicbyte-registry-{number}",
                "host.name": "127.0.0.1",
                "magicbyte.inter.instance.urls": urls,
            }
            running = running_registry("kafka:", bootstrap_servers=bootstrap_servers, port=port, properties=properties)
            pods.append(stack.enter_context(running))
            await_ready(pods[-1])
        yield pods


def update(pods: list[ServerProcess], service: Service, pace: Pace) -> None:
    """Replace the pods as a StatefulSet does."""
    for number in reversed(range(len(pods))):
        pod, started = pods[number], time.monotonic()
        service.remove(pod.url, after=_PROPAGATION)
        time.sleep(pace.pre_stop)
        stopping = time.monotonic()
        code = pod.stop(_GRACE - pace.pre_stop)
        stopped = time.monotonic()
        time.sleep(pace.gap)
        pod.start()
        await_ready(pod)
        service.add(pod.url, after=_PROPAGATION)
        if code != 0:
            service.problems.append(f"pod {number} ended with {code} after SIGTERM")
        print(
            f"  pod {number} replaced in {time.monotonic() - started:.1f} s; it ended {stopped - stopping:.1f} s after"
            " SIGTERM",
            flush=True,
        )


def await_ready(pod: ServerProcess, seconds: float = 60) -> None:
    """Wait until the readiness probe of a pod succeeds."""
    deadline = time.monotonic() + seconds
    while httpx.get(f"{pod.url}/health/ready", timeout=30).status_code != HTTPStatus.OK:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{pod.url} is not ready after {seconds:g} s")
        time.sleep(0.05)


def run(bootstrap_servers: str, *, rounds: int, pace: Pace, seed: int, longest_write: float | None = None) -> list[str]:
    """Update all pods some times under load; returns the problems.

    Args:
        bootstrap_servers: the brokers.
        rounds: how often all pods are replaced.
        pace: the times of a replacement.
        seed: of what the clients choose.
        longest_write: the longest wait of a write, in seconds; None for any, on a machine that does other things.
    """
    with running_pods(bootstrap_servers) as pods:
        service = Service([pod.url for pod in pods])
        clients = Clients(service, seed)
        try:
            clients.wait_for(20)
            for number in range(rounds):
                print(f"round {number + 1}:", flush=True)
                update(pods, service, pace)
            clients.wait_for(20)
        finally:
            clients.stop()
        problems = service.problems + clients.problems + check_versions(pods, clients.subjects)
        print(
            f"{clients.reads} reads ({clients.reconnected} of them again, on a connection that had closed), longest"
            f" {clients.longest_read:.2f} s; {clients.answered} writes, longest {clients.longest_write:.2f} s;"
            f" {len(problems)} problems",
            flush=True,
        )
    if longest_write is not None and clients.longest_write > longest_write:
        problems.append(f"a write took {clients.longest_write:.2f} s, more than {longest_write:g} s")
    return problems


def main() -> int:
    """Run with the command's options; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2, help="how often all pods are replaced")
    parser.add_argument("--pre-stop", type=float, default=5, help="the sleep of preStop, in seconds")
    parser.add_argument("--gap", type=float, default=2, help="seconds between the end of a pod and its next start")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with temporary_broker() as broker:
        problems = run(
            broker.bootstrap_servers,
            rounds=options.rounds,
            pace=Pace(options.pre_stop, options.gap),
            seed=options.seed,
            longest_write=LONGEST_WRITE,
        )
    for problem in problems[:20]:
        print(f"  {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
