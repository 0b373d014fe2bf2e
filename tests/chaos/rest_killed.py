"""The broker and the proxy killed under load: what was answered is there, once, and comes to every group."""

from __future__ import annotations

import argparse
import random
import sys
import threading
import time
from typing import Any

import httpx
from confluent_kafka.admin import AdminClient, NewTopic

from magicbyte.testing import running_rest_proxy, temporary_broker
from tests.chaos.kit.stored_records import stored

V2 = {"content-type": "application/vnd.kafka.v2+json"}
JSON = "application/vnd.kafka.json.v2+json"
PARTITIONS = 6
PROPERTIES = {
    "consumer.session.timeout.ms": "2000",
    "consumer.heartbeat.interval.ms": "500",
    "produce.timeout.ms": "60000",
}


class Load:
    """Clients that produce numbered records until they are stopped, and what they were answered."""

    def __init__(self, url: str, topic: str, clients: int) -> None:
        self.answered: dict[tuple[int, int], int] = {}
        self.unknown = 0
        self.unanswered = 0
        self.wrong: list[str] = []
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=(url, topic, index * 100_000_000)) for index in range(clients)
        ]
        for thread in self._threads:
            thread.start()

    def _run(self, url: str, topic: str, value: int) -> None:
        with httpx.Client(base_url=url, timeout=120) as client:
            while not self._stop.is_set():
                values = list(range(value, value + 50))
                value += 50
                body = {"records": [{"key": number, "value": number} for number in values]}
                try:
                    answer = client.post(f"/topics/{topic}", json=body, headers={"content-type": JSON})
                except httpx.TransportError:  # the proxy was killed: nothing was answered
                    self.unanswered += 50
                    time.sleep(0.1)
                    continue
                if answer.status_code != httpx.codes.OK:
                    self.wrong.append(answer.text[:200])
                    continue
                for number, result in zip(values, answer.json()["offsets"], strict=True):
                    if result["error_code"] is None:
                        self.answered[result["partition"], result["offset"]] = number
                    elif result["error_code"] == 50004:
                        self.unknown += 1
                    else:
                        self.wrong.append(str(result))

    def stop(self) -> None:
        """Stop and wait for the answers."""
        self._stop.set()
        for thread in self._threads:
            thread.join()


def report(what: str, load: Load, found: dict[tuple[int, int], int], *, once: bool) -> bool:
    """Compare what was answered with what is there, and say so."""
    missing = sum(found.get(place) != value for place, value in load.answered.items())
    twice = len(found) - len(set(found.values()))
    sys.stdout.write(
        f"{what}: {len(load.answered)} answered, {missing} of them not there; {twice} twice; "
        f"{load.unknown} unknown, {load.unanswered} unanswered; {len(load.wrong)} wrong answers {load.wrong[:3]}\n"
    )
    return not missing and not load.wrong and bool(load.answered) and not (once and twice)


def kill_broker(rounds: int, chance: random.Random) -> bool:
    """The broker dies under load, again and again."""
    with temporary_broker() as broker, running_rest_proxy(broker.bootstrap_servers, "", properties=PROPERTIES) as proxy:
        topic = make_topic(broker)
        load = Load(proxy.url, topic, 8)
        for _ in range(rounds):
            time.sleep(chance.uniform(0.5, 2))
            broker.kill()
            time.sleep(chance.uniform(0, 1))
            broker.start()
        time.sleep(5)
        load.stop()
        return report("broker killed", load, stored(broker.bootstrap_servers, topic, PARTITIONS), once=True)


def kill_proxy(rounds: int, chance: random.Random) -> bool:
    """The proxy dies under load of both kinds; a group reads on after each."""
    seen: set[int] = set()
    with temporary_broker(properties={"group.min.session.timeout.ms": "1000"}) as broker:
        topic = make_topic(broker)
        with running_rest_proxy(broker.bootstrap_servers, "", properties=PROPERTIES) as proxy:
            load = Load(proxy.url, topic, 4)
            for _ in range(rounds):
                seen |= read_for(proxy.url, topic, chance.uniform(3, 6))
                proxy.kill()
                proxy.start()
            load.stop()
            wanted = set(load.answered.values())
            deadline = time.monotonic() + 60
            while not wanted <= seen and time.monotonic() < deadline:
                seen |= read_for(proxy.url, topic, 5)
        sys.stdout.write(f"proxy killed: {len(wanted - seen)} of {len(wanted)} never came to the group\n")
        # A client that repeats what was not answered would repeat it here: this one does not.
        return wanted <= seen and report(
            "proxy killed", load, stored(broker.bootstrap_servers, topic, PARTITIONS), once=True
        )


def read_for(url: str, topic: str, seconds: float) -> set[int]:
    """Read as an instance of the group for that time, and commit after each read; return the values."""
    seen: set[int] = set()
    until = time.monotonic() + seconds
    with httpx.Client(base_url=url, timeout=60) as client:
        config = {"format": "json", "auto.offset.reset": "earliest", "auto.commit.enable": "false"}
        made: dict[str, Any] = client.post("/consumers/chaos", json=config, headers=V2).json()
        path = f"/consumers/chaos/instances/{made['instance_id']}"
        client.post(f"{path}/subscription", json={"topics": [topic]}, headers=V2)
        while time.monotonic() < until:
            records = client.get(f"{path}/records?max_bytes=20000", headers={"accept": JSON}).json()
            seen |= {record["value"] for record in records}
            client.post(f"{path}/offsets", headers=V2)
    return seen


def make_topic(broker: Any) -> str:
    """A topic of several partitions."""
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    admin.create_topics([NewTopic("chaos", PARTITIONS, 1)])["chaos"].result(30)
    return "chaos"


def main() -> int:
    """Run both; 0 if all was well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    well = kill_broker(options.rounds, chance)
    well = kill_proxy(options.rounds, chance) and well
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
