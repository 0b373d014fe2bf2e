"""Common parts of the benchmarks of the REST proxy: records, requests, and what runs for a measurement."""

from __future__ import annotations

import argparse
import base64
import json
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx
from confluent_kafka.admin import AdminClient, NewTopic
from harness import Target, interpreters

from magicbyte.testing import running_registry, running_rest_proxy, temporary_broker

#: About a hundred bytes each.
VALUE: dict[str, Any] = {
    "id": 1234567,
    "name": "Ada Lovelace",
    "tags": ["new", "gift"],
    "note": "by hand",
    "total": 99.5,
    "x": "y" * 20,
}
AVRO_VALUE = {**VALUE, "note": {"string": "by hand"}}
SCHEMA = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "name", "type": "string"},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "note", "type": ["null", "string"]},
        {"name": "total", "type": "double"},
        {"name": "x", "type": "string"},
    ],
}

JSON_SCHEMA = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "name": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "note": {"type": "string"},
        "total": {"type": "number"},
        "x": {"type": "string"},
    },
}
PROTOBUF = """\
syntax = "proto3";
message Order {
  int64 id = 1;
  string name = 2;
  repeated string tags = 3;
  string note = 4;
  double total = 5;
  string x = 6;
}
"""
SCHEMAS = {"avro": json.dumps(SCHEMA), "jsonschema": json.dumps(JSON_SCHEMA), "protobuf": PROTOBUF}


def media_type(form: str) -> str:
    """The content type of a format."""
    return f"application/vnd.kafka.{form}.v2+json"


def produce_body(form: str, records: int, schema_id: int | None) -> bytes:
    """A produce request; a schema goes by its id, or by text if there is none yet."""
    values = {"binary": base64.b64encode(json.dumps(VALUE).encode()).decode(), "avro": AVRO_VALUE}
    schema = {"value_schema": SCHEMAS.get(form)} if schema_id is None else {"value_schema_id": schema_id}
    records_sent = [{"value": values.get(form, VALUE)}] * records
    return json.dumps({**(schema if form in SCHEMAS else {}), "records": records_sent}).encode()


def produced(url: str, topic: str, form: str, body: bytes) -> httpx.Response:
    """The answer to one request, which has to be 200."""
    answer = httpx.post(f"{url}/topics/{topic}", content=body, headers={"content-type": media_type(form)}, timeout=60)
    return answer.raise_for_status()


@contextmanager
def surroundings(options: argparse.Namespace) -> Iterator[tuple[str, Any, list[Target]]]:
    """A broker's address, the broker if it is ours, and the proxies before it, ours first."""
    with ExitStack() as stack:
        broker = None if options.bootstrap_servers else stack.enter_context(temporary_broker())
        bootstrap = options.bootstrap_servers or broker.bootstrap_servers
        registry = options.registry or stack.enter_context(running_registry()).url
        proxies = {
            name: stack.enter_context(running_rest_proxy(bootstrap, registry, python=python))
            for name, python in interpreters(options.before).items()
        }
        others = [Target(*target.split("=", 1)) for target in options.compare_with]
        yield bootstrap, broker, [*(Target(name, proxy.url, proxy.pid) for name, proxy in proxies.items()), *others]


def new_topic(bootstrap: str, partitions: int = 1) -> str:
    """A topic of this run's own."""
    name = f"bench-{time.time_ns()}"
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic(name, partitions, 1)])[name].result(30)
    return name


def parser(text: str | None) -> argparse.ArgumentParser:
    """Return the parser of the options that all benchmarks of the proxy have."""
    made = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--seconds", type=float, default=1.5, help="length of a measurement")
    made.add_argument("--repeats", type=int, default=3)
    made.add_argument("--formats", nargs="+", default=["json", "binary", "avro"])
    made.add_argument(
        "--compare-with", action="append", default=[], metavar="NAME=URL", help="another proxy of that broker"
    )
    made.add_argument("--before", metavar="CHECKOUT", help="another checkout of this project, with its environment")
    made.add_argument("--bootstrap-servers", help="a broker that runs; another proxy needs one")
    made.add_argument("--registry", help="a registry that runs")
    return made
