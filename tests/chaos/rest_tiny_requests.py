"""Requests of some KB that cost a REST proxy much, if nothing bounds them, and an innocent client beside them.

    python tests/chaos/rest_tiny_requests.py [--attack NAME ...] [--seconds 20] [--clients 8]

brackets, empty-lists: streams of `/records` with opening brackets and with empty lists. slow-batch: ten entries of v3,
each of which a validator gives up. unpacking-v3, unpacking-v1: a read of one record of a batch of 26 KB that unpacks to
800 MB.
Ends with 1 for the reasons of `rest_validation.py`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import httpx
from confluent_kafka import Producer

from magicbyte.testing import running_registry, running_rest_proxy, temporary_broker
from tests.chaos.rest_validation import Attackers, chain, withstood

TOPIC = "packed"
#: What the proxy may hold while two batches are unpacked up to 64 MiB each: the buffer, and the batch made of it.
UNPACKING_MB = 400
HEADERS = {"content-type": "application/json"}
SLOW = {"type": "JSONSCHEMA", "schema": json.dumps(chain(26, {"type": "integer"})), "data": "x"}

Send = Callable[[httpx.Client, str], httpx.Response]


def _post(path: str, content: bytes) -> Send:
    return lambda client, cluster: client.post(
        f"/v3/clusters/{cluster}/topics/t/{path}", content=content, headers=HEADERS
    )


def _get(path: str) -> Send:
    return lambda client, cluster: client.get(path.replace("CLUSTER", cluster))


#: Requests, what their answers say, and how many MB the proxy may grow.
ATTACKS: dict[str, tuple[Send, str, int]] = {
    "brackets": (_post("records", b"[" * 1_000_000), "JSON is nested too deeply", 300),
    "empty-lists": (_post("records", b'{"value":[' + b"[]," * 300_000), "", 200),
    "slow-batch": (
        _post("records:batch", json.dumps({"entries": [{"id": f"e{n}", "value": SLOW} for n in range(10)]}).encode()),
        "",
        200,
    ),
    "unpacking-v3": (
        _get(f"/v3/clusters/CLUSTER/topics/{TOPIC}/partitions/0/records?offset=0&max_records=1&max_bytes=1000"),
        "unpacks to more than 67108864 bytes",
        UNPACKING_MB,
    ),
    "unpacking-v1": (
        _get(f"/topics/{TOPIC}/partitions/0/messages?offset=0&count=1"),
        "unpacks to more than 67108864 bytes",
        UNPACKING_MB,
    ),
}


@dataclass
class Senders(Attackers):
    """Clients that send the same request until they are stopped."""

    send: Send = lambda _client, _cluster: httpx.Response(500)
    cluster: str = ""

    def _run(self) -> None:
        with httpx.Client(base_url=self.url, timeout=300) as client:
            while not self.stopping.is_set():
                started = time.perf_counter()
                answer = self.send(client, self.cluster)
                self.slowest = max(self.slowest, time.perf_counter() - started)
                self.answers[answer.status_code] += 1
                if self.reason not in answer.text:
                    self.wrong.append(answer.text[:300])


def produce_packed(servers: str) -> None:
    """A batch of zstd of about 26 KB that unpacks to 800 MB."""
    settings = {"bootstrap.servers": servers, "compression.type": "zstd", "message.max.bytes": 1_000_000_000}
    producer = Producer({**settings, "batch.size": 1_000_000_000, "queue.buffering.max.kbytes": 2_000_000})
    producer.produce(TOPIC, bytes(800_000_000))
    assert producer.flush(120) == 0


def main() -> int:
    """Carry out the attacks; 0 if all went well."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attack", nargs="+", choices=ATTACKS, default=list(ATTACKS))
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--clients", type=int, default=8)
    options = parser.parse_args()
    well = True
    with (
        temporary_broker() as broker,
        running_registry() as registry,
        running_rest_proxy(broker.bootstrap_servers, registry.url) as proxy,
    ):
        produce_packed(broker.bootstrap_servers)
        httpx.post(f"{proxy.url}/topics/t", json={"records": []})
        cluster = httpx.get(f"{proxy.url}/v3/clusters").json()["data"][0]["cluster_id"]
        assert proxy.pid is not None
        for name in options.attack:
            send, reason, most_mb = ATTACKS[name]
            senders = Senders(proxy.url, "t", iter(()), reason, send=send, cluster=cluster)
            well &= withstood(name, senders, proxy.pid, options.seconds, options.clients, most_mb=most_mb)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
