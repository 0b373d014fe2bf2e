"""Ten thousand random requests: malformed bodies, wrong types, truncated streams; no 500 and no leaked consumer."""

from __future__ import annotations

import argparse
import http.client
import json
import random
import socket
import sys
from urllib.parse import quote, urlsplit

from magicbyte.testing import running_registry, running_rest_proxy, temporary_broker

TYPES = [
    *(f"application/vnd.kafka.{form}.v2+json" for form in ("binary", "json", "avro", "jsonschema", "protobuf")),
    *(f"application/vnd.kafka.{form}.v1+json" for form in ("binary", "json", "avro")),
    "application/vnd.kafka.v2+json",
    "application/vnd.kafka.v1+json",
    "application/json",
    "text/plain",
    "",
]
WORDS = ["a", "topic", "-1", "0", "1", "99999999999999999999", "é", "%2F", "..", " ", "x" * 300, "\0", "i1"]
BODIES: list[object] = [
    {"records": [{"value": "aGk="}]},
    {"records": [{"key": 1, "value": {"a": [None, True]}, "partition": 0}]},
    {"value_schema": '"int"', "records": [{"value": 5}]},
    {"value_schema": '{"type":"integer"}', "records": [{"value": 5}]},
    {"value_schema": 'syntax = "proto3"; message M { int32 a = 1; }', "records": [{"value": {"a": 5}}]},
    {"name": "i1", "format": "json", "auto.offset.reset": "earliest"},
    {"topics": ["topic"]},
    {"topic_pattern": "t.*"},
    {"partitions": [{"topic": "topic", "partition": 0}]},
    {"offsets": [{"topic": "topic", "partition": 0, "offset": 0}]},
    {"timestamps": [{"topic": "topic", "partition": 0, "timestamp": "2020-01-01T00:00:00Z"}]},
]
VALUES: list[object] = [None, True, -1, 2**70, 1.5, "", "é\0", [], {}, [[]], {"a": {"b": None}}, "\ud800"]


def spoil(chance: random.Random, body: object) -> object:
    """The body with something in it replaced."""
    if isinstance(body, dict) and body and chance.random() < 0.8:
        name = chance.choice(list(body))
        return {**body, name if chance.random() < 0.9 else "other": spoil(chance, body[name])}
    if isinstance(body, list) and body and chance.random() < 0.8:
        return [spoil(chance, body[0]), *body[1:]]
    return chance.choice(VALUES)


def request(chance: random.Random) -> tuple[str, str, bytes, dict[str, str]]:
    """Method, path, body and headers."""

    def word() -> str:
        return quote(chance.choice(WORDS), safe="%")

    group = chance.choice(["g", "g", "g", word()])
    method, path = chance.choice(
        [
            ("POST", f"/topics/{word()}"),
            ("POST", f"/topics/{word()}/partitions/{word()}"),
            ("GET", f"/topics/{word()}/partitions/{word()}/offsets"),
            ("GET", f"/topics/{word()}/partitions/{word()}/messages?offset={word()}&count=2"),
            *[("POST", f"/consumers/{group}")] * 3,
            ("DELETE", f"/consumers/{group}/instances/i1"),
            *(
                (method, f"/consumers/{group}/instances/i1/{what}")
                for method, what in (
                    ("GET", f"records?timeout=1&max_bytes={word()}&token={word()}"),
                    ("POST", "subscription"),
                    ("GET", "subscription"),
                    ("DELETE", "subscription"),
                    ("POST", "offsets"),
                    ("GET", "offsets"),
                    ("POST", "positions"),
                    ("POST", "positions/beginning"),
                    ("POST", "positions/end"),
                    ("POST", "assignments"),
                    ("GET", "assignments"),
                    ("GET", f"topics/{word()}"),
                )
            ),
            ("GET", "/topics"),
            ("GET", "/brokers"),
            ("POST", "/"),
        ]
    )
    if chance.random() < 0.05:
        method = chance.choice(["GET", "POST", "PUT", "DELETE"])
    body: object = chance.choice(BODIES)
    if chance.random() < 0.5:
        body = spoil(chance, body)
    text = json.dumps(body).encode()
    if chance.random() < 0.2:
        at = chance.randrange(len(text) + 1)
        text = text[:at] + bytes(chance.randrange(256) for _ in range(3)) * chance.randrange(2) + text[at + 2 :]
    headers = {"content-type": chance.choice(TYPES), "accept": chance.choice([*TYPES, *["*/*"] * 20])}
    headers = {name: value for name, value in headers.items() if value}
    return method, path, text, headers


def truncated(url: str, path: str) -> None:
    """A request whose body ends before its length says so."""
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port)) as connection:
        first = f"POST {path.partition('?')[0]} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {TYPES[1]}\r\n"
        connection.sendall(first.encode() + b'Content-Length: 500\r\n\r\n{"records":[')


def main() -> int:
    """Send them and count; 0 if all was well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    statuses: dict[int, int] = {}
    failures: list[str] = []
    made: set[str] = set()
    with (
        temporary_broker() as broker,
        running_registry() as registry,
        running_rest_proxy(broker.bootstrap_servers, registry.url) as proxy,
    ):
        parts = urlsplit(proxy.url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
        for number in range(options.requests):
            if number % 500 == 0:
                sys.stderr.write(f"{number} of {options.requests}\r")
            method, path, body, headers = request(chance)
            if chance.random() < 0.01:
                truncated(proxy.url, path)
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            content = answer.read()
            statuses[answer.status] = statuses.get(answer.status, 0) + 1
            # Kafka's own errors have the reference's code, of which the status is 500.
            if answer.status >= 500 and json.loads(content)["error_code"] not in (50002, 50003):
                failures.append(f"{number}: {method} {path} {body!r} {headers}: {answer.status} {content!r}")
            if method == "POST" and answer.status == 200 and path.count("/") == 2 and path.startswith("/consumers/"):
                made.add(json.loads(content)["base_uri"])
        for uri in made:
            connection.request("DELETE", urlsplit(uri).path)
            connection.getresponse().read()
        connection.request("GET", "/metrics")
        metrics = connection.getresponse().read().decode().splitlines()
    sys.stdout.write(f"{dict(sorted(statuses.items()))}\n" + "\n".join(failures[:10]) + "\n")
    left = next(line for line in metrics if line.startswith("magicbyte_rest_consumer_instances "))
    sys.stdout.write(f"{left}\n")
    return 1 if failures or not left.endswith(" 0.0") else 0


if __name__ == "__main__":
    sys.exit(main())
