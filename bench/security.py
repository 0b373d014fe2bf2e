"""The price of sign-in and of 10,000 access rules: hot GETs and produce beside an open server in the same run.

    PYTHONPATH=bench/kit python -P bench/security.py [--repeats 5] [--seconds 2] [--only registry|rest]

The clients send the same bytes to both, password included; the open server does not look at it.
"""

from __future__ import annotations

import argparse
import json
import sys
import urllib.request
from base64 import b64encode
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from harness import Load, Target, interleaved, print_table, request
from proxies import media_type, new_topic, produce_body, produced

from magicbyte.kit.processes.process import temporary_folder
from magicbyte.security.sign_in.password_hash import hash_password
from magicbyte.testing import running_registry, running_rest_proxy, temporary_broker

V1 = "application/vnd.schemaregistry.v1+json"
SUBJECTS = 1000
RULES = 10_000
AUTHORIZATION = {"Authorization": "Basic " + b64encode(b"alice:wonderland").decode()}


def settings(folder: Path) -> dict[str, str]:
    """A user, and rules of which one is about each of the subjects."""
    users, rules = folder / "users", folder / "rules"
    users.write_text(f"alice:{hash_password('wonderland')}:groups=bench\n")
    users.chmod(0o600)
    subject_rules = [f"allow User:alice READ,WRITE SUBJECT LITERAL subject-{number}\n" for number in range(SUBJECTS)]
    subject_rules += [
        f"allow User:alice {right}\n" for right in ("WRITE TOPIC PREFIXED bench-", "READ SUBJECT PREFIXED bench-")
    ]
    others = [f"allow Group:bench READ SUBJECT PREFIXED team-{number}.\n" for number in range(RULES - 2 * SUBJECTS)]
    rules.write_text("".join(subject_rules + others))
    return {
        "authentication.method": "BASIC",
        "magicbyte.users.file": str(users),
        "magicbyte.acl.store": f"file:{rules}",
    }


def fill(target: Target) -> None:
    for number in range(SUBJECTS):
        schema = json.dumps({"type": "enum", "name": f"Enum{number}", "symbols": ["A", "B"]})
        body = json.dumps({"schema": schema}).encode()
        url = f"{target.url}/subjects/subject-{number}/versions"
        asked = urllib.request.Request(url, body, {"Content-Type": V1, **AUTHORIZATION})  # noqa: S310  ours
        urllib.request.urlopen(asked).read()  # noqa: S310  as above


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--only", choices=("registry", "rest"))
    options = parser.parse_args()
    secured = settings(temporary_folder("magicbyte-bench-"))
    if options.only != "rest":
        measure_reads(secured, options)
    if options.only != "registry":
        measure_produce(secured, options)
    return 0


def measure_reads(secured: dict[str, str], options: argparse.Namespace) -> None:
    reads = {
        "GET /schemas/ids/{id}": [
            request("GET", f"/schemas/ids/{number + 1}", headers=AUTHORIZATION) for number in range(SUBJECTS)
        ],
        "GET /subjects/{s}/versions/latest": [
            request("GET", f"/subjects/subject-{number}/versions/latest", headers=AUTHORIZATION)
            for number in range(SUBJECTS)
        ],
        "GET /subjects/{s}/versions/latest (not remembered)": [
            request(
                "GET",
                f"/subjects/subject-{number}/versions/latest",
                headers={**AUTHORIZATION, "X-Request-ID": "bench"},
            )
            for number in range(SUBJECTS)
        ],
    }
    with ExitStack() as stack:
        servers = {
            "open": stack.enter_context(running_registry()),
            "signed in": stack.enter_context(running_registry(properties=secured)),
        }
        targets = [Target(name, server.url, server.pid) for name, server in servers.items()]
        for target in targets:
            fill(target)
        for title, requests in reads.items():
            load = Load(32, requests, options.seconds)
            measures = {target.name: partial(load.drive, target) for target in targets}
            print_table(f"{title}, 32 clients", interleaved(measures, options.repeats), base="open")


def measure_produce(secured: dict[str, str], options: argparse.Namespace) -> None:
    with ExitStack() as stack:
        broker = stack.enter_context(temporary_broker()).bootstrap_servers
        registry = stack.enter_context(running_registry()).url
        servers = {
            "open": stack.enter_context(running_rest_proxy(broker, registry)),
            "signed in": stack.enter_context(running_rest_proxy(broker, registry, properties=secured)),
        }
        targets = [Target(name, server.url, server.pid) for name, server in servers.items()]
        topic = new_topic(broker)
        schema_id = produced(targets[0].url, topic, "avro", produce_body("avro", 1, None)).json()["value_schema_id"]
        for form, records in (("json", 1), ("json", 10), ("avro", 1), ("avro", 10)):
            headers = {"Content-Type": media_type(form), **AUTHORIZATION}
            body = produce_body(form, records, schema_id)
            load = Load(16, [request("POST", f"/topics/{topic}", body, headers)], options.seconds)
            measures = {target.name: partial(load.drive, target) for target in targets}
            title = f"POST /topics/{{topic}}, {records} {form} records, 16 clients"
            print_table(title, interleaved(measures, options.repeats), base="open")


if __name__ == "__main__":
    sys.exit(main())
