"""The broker killed under streams of records: every receipt is true, and nothing is there twice."""

from __future__ import annotations

import argparse
import json
import random
import socket
import sys
import threading
import time
from urllib.parse import urlsplit

from confluent_kafka.admin import AdminClient, NewTopic

from magicbyte.testing import running_rest_proxy, temporary_broker
from tests.chaos.kit.stored_records import stored

PARTITIONS = 6


class StreamLoad:
    """A client that sends numbered records on one connection until it is stopped, and notes the receipts."""

    def __init__(self, url: str, topic: str, first: int) -> None:
        self.receipts: dict[tuple[int, int], int] = {}
        self.unknown = 0
        self.wrong: list[str] = []
        self._sent: list[int] = []
        self._stop = threading.Event()
        address = urlsplit(url)
        self._socket = socket.create_connection((address.hostname or "", address.port or 0))
        head = f"POST /v3/clusters/any/topics/{topic}/records HTTP/1.1\r\nHost: localhost\r\n"
        self._socket.sendall(f"{head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        self._threads = [
            threading.Thread(target=self._send, args=(first,)),
            threading.Thread(target=self._receive),
        ]
        for thread in self._threads:
            thread.start()

    def _send(self, number: int) -> None:
        while not self._stop.is_set():
            numbers = range(number, number + 20)
            number += 20
            body = "".join(f'{{"value":{{"type":"JSON","data":{value}}}}}' for value in numbers).encode()
            self._sent.extend(numbers)
            self._socket.sendall(b"%x\r\n%b\r\n" % (len(body), body))
            time.sleep(0.002)
        self._socket.sendall(b"0\r\n\r\n")

    def _receive(self) -> None:
        answer = self._socket.makefile("rb")
        while answer.readline().strip():
            pass  # the head
        index = 0
        while size := int(answer.readline(), 16):
            for line in answer.read(size).split(b"\r\n")[:-1]:
                report = json.loads(line)
                number = self._sent[index]
                index += 1
                if report["error_code"] == 200:
                    self.receipts[report["partition_id"], report["offset"]] = number
                elif report["error_code"] == 50004:
                    self.unknown += 1
                else:
                    self.wrong.append(line.decode())
            answer.readline()
        if index != len(self._sent):
            self.wrong.append(f"{len(self._sent)} records were sent, and {index} reported")

    def stop(self) -> None:
        """Stop and wait for the reports."""
        self._stop.set()
        for thread in self._threads:
            thread.join()
        self._socket.close()


def kill_broker(rounds: int, seed: int, streams: int = 3) -> bool:
    """The broker dies under load, again and again; returns whether all was well."""
    chance = random.Random(seed)
    with temporary_broker() as broker, running_rest_proxy(broker.bootstrap_servers, "") as proxy:
        admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
        admin.create_topics([NewTopic("chaos", PARTITIONS, 1)])["chaos"].result(30)
        loads = [StreamLoad(proxy.url, "chaos", index * 100_000_000) for index in range(streams)]
        for _ in range(rounds):
            time.sleep(chance.uniform(0.5, 2))
            broker.kill()
            time.sleep(chance.uniform(0, 1))
            broker.start()
        time.sleep(2)
        for load in loads:
            load.stop()
        values = stored(broker.bootstrap_servers, "chaos", PARTITIONS)
    receipts = {place: number for load in loads for place, number in load.receipts.items()}
    wrong = [text for load in loads for text in load.wrong]
    missing = sum(values.get(place) != number for place, number in receipts.items())
    twice = len(values) - len(set(values.values()))
    sys.stdout.write(
        f"broker killed {rounds} times under {streams} streams: {len(receipts)} receipts, {missing} of them untrue; "
        f"{twice} records twice; {sum(load.unknown for load in loads)} unknown; {len(wrong)} wrong {wrong[:3]}\n"
    )
    return bool(receipts) and not missing and not twice and not wrong


def main() -> int:
    """Run; 0 if all was well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    return 0 if kill_broker(options.rounds, options.seed) else 1


if __name__ == "__main__":
    sys.exit(main())
