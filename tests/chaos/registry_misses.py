"""Look-ups of unknown ids while the broker is away: they wait together, and hold up nobody else.

    python tests/chaos/registry_misses.py [--seconds 20]

60 clients ask for an id that was never given while the broker is killed; one more client reads a schema and asks for
health and metrics. Ends with 1 if an answer came late, or if the id is not answered with 404 once the broker is back.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections import Counter

import httpx

from magicbyte.testing import running_registry, temporary_broker

#: How many ask at a time.
CLIENTS = 60
#: The longest that each kind of answer may take, in seconds: `metrics` and `ready` ask the broker, for up to 3 s, and a
#: look-up may wait for the log for 10 s.
LIMITS = {"known": 1.0, "live": 1.0, "metrics": 5.0, "ready": 5.0, "miss": 15.0}


def misses(seconds: float) -> tuple[dict[str, float], list[str]]:
    """Ask for unknown ids while the broker is away: the slowest answer of each kind in seconds, and what is wrong."""
    slowest: dict[str, float] = {}
    statuses: Counter[int] = Counter()
    stop = threading.Event()
    with temporary_broker() as broker, running_registry("kafka:", bootstrap_servers=broker.bootstrap_servers) as server:
        known = {"schema": '"int"'}
        httpx.post(f"{server.url}/subjects/known/versions", json=known, timeout=60).raise_for_status()

        def ask(client: httpx.Client, kind: str, path: str) -> int:
            started = time.monotonic()
            # With an id of its own a request is not answered from memory.
            answered = client.get(f"{server.url}{path}", headers={"X-Request-ID": "a"}, timeout=120)
            slowest[kind] = max(slowest.get(kind, 0.0), time.monotonic() - started)
            return answered.status_code

        def miss() -> None:
            with httpx.Client() as client:
                while not stop.is_set():
                    statuses[ask(client, "miss", "/schemas/ids/999")] += 1

        broker.kill()
        readers = [threading.Thread(target=miss) for _ in range(CLIENTS)]
        for reader in readers:
            reader.start()
        try:
            with httpx.Client() as client:
                until = time.monotonic() + seconds
                while time.monotonic() < until:
                    assert ask(client, "known", "/schemas/ids/1") == 200
                    assert ask(client, "live", "/health/live") == 200
                    assert ask(client, "metrics", "/metrics") == 200
                    ask(client, "ready", "/health/ready")
        finally:
            stop.set()
            for reader in readers:
                reader.join()
        broker.start()
        until = time.monotonic() + 120
        while (answer := httpx.get(f"{server.url}/schemas/ids/999", timeout=60)).status_code != 404:
            if time.monotonic() > until:
                break
            time.sleep(0.1)
        problems = [] if answer.status_code == 404 else [f"the id is not answered with 404 afterwards: {answer.text}"]
    problems += [f"{kind}: {slowest[kind]:.1f} s" for kind, limit in LIMITS.items() if slowest[kind] > limit]
    if statuses.keys() != {500}:
        problems.append(f"answers {dict(statuses)}")
    return slowest, problems


def main() -> int:
    """Ask for so long; 0 if all went well."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0)
    slowest, problems = misses(parser.parse_args().seconds)
    answers = ", ".join(f"{kind} {seconds:.2f} s" for kind, seconds in slowest.items())
    sys.stdout.write(f"the slowest answers: {answers}\n" + "".join(f"  {problem}\n" for problem in problems))
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
