"""The registry's start on a topic of 100,000 schemas: seconds until it reads and writes, and memory.

PYTHONPATH=bench/kit python -P bench/registry/start.py [--schemas 100000] [--repeats 3] [--before CHECKOUT]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import time

from harness import interpreters, spread
from schemas_topic import fill, started

from magicbyte.testing import temporary_broker


def bare_import(python: str) -> float:
    """Seconds that a Python process takes to import the registry's application and the Kafka client."""
    began = time.perf_counter()
    subprocess.run([python, "-P", "-c", "import registry.app, registry.cluster.kafka_node"], check=True)
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schemas", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--before", metavar="CHECKOUT", help="another checkout of this project, with its environment")
    options = parser.parse_args()
    pythons = interpreters(options.before)
    with temporary_broker() as broker:
        servers = broker.bootstrap_servers
        text_mb = fill(servers, "full", options.schemas) / 1e6
        fill(servers, "empty", 0)
        rows: dict[str, list[tuple[float, float, float]]] = {name: [] for name in pythons}
        for _ in range(options.repeats):
            for name, python in pythons.items():
                imports = bare_import(python)
                _, _, base = started(servers, "empty", "/subjects", python)
                reads, writes, memory = started(servers, "full", f"/schemas/ids/{options.schemas}", python)
                rows[name].append((reads - imports, writes - reads, (memory - base) / text_mb))
    for name, measured in rows.items():
        print(name)
        for title, values, unit, goal in zip(
            ("reads, beyond the bare import", "writes, after reads", "memory beyond the bare process"),
            zip(*measured, strict=True),
            ("s", "s", "x the text"),
            (1.5, 1.0, 1.4),
            strict=True,
        ):
            middle = statistics.median(values)
            shown = spread([value * 1000 for value in values])
            print(f"  {title:32} {middle:6.2f} {unit:10} ({shown} thousandths; goal {goal})")


if __name__ == "__main__":
    main()
