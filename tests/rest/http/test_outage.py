"""The log of a proxy while no broker answers: not a line for each attempt."""

from __future__ import annotations

import json

import httpx
import pytest

from magicbyte.platform.broker import free_port
from magicbyte.testing.servers import running_rest_proxy


@pytest.mark.slow
def test_attempts_at_a_closed_port_are_one_line() -> None:
    servers = f"127.0.0.1:{free_port()}"
    # The producer fails after seconds of attempts, and so do the requests of the admin client.
    properties = {"producer.delivery.timeout.ms": "4000", "producer.request.timeout.ms": "4000"}
    with running_rest_proxy(servers, "http://127.0.0.1:1", properties=properties) as proxy:
        for _ in range(2):
            httpx.post(
                f"{proxy.url}/topics/t",
                content='{"records":[{"value":1}]}',
                headers={"content-type": "application/vnd.kafka.json.v2+json"},
                timeout=120,
            )
            assert httpx.get(f"{proxy.url}/topics", timeout=120).status_code >= 500
        entries = [json.loads(line) for line in proxy.log.read_text().splitlines() if line.startswith("{")]
    lines = [entry["msg"] for entry in entries if entry["logger"].startswith(("rest_proxy", "magicbyte.kafka"))]
    assert [line for line in lines if servers in line] == [
        f"no connection to the Kafka broker {servers}: Connection refused; trying again",
        f"no broker answers at {servers} (bootstrap.servers); still trying",
    ]
    assert [line for line in lines if "refused" in line and servers not in line] == []
    assert len([line for line in lines if "brokers are down" in line]) <= 1
    assert len(lines) < 10
