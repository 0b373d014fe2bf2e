"""The price of sign-in and of 10,000 access rules: hot GETs beside an open server in the same run.

    python bench/security.py [--repeats 5] [--seconds 2]

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

from magicbyte.kit.process import temporary_folder
from magicbyte.security.sign_in.password_hash import hash_password
from magicbyte.testing.servers import running_registry

V1 = "application/vnd.schemaregistry.v1+json"
SUBJECTS = 1000
RULES = 10_000
AUTHORIZATION = {"Authorization": "Basic " + b64encode(b"alice:wonderland").decode()}


def settings(folder: Path) -> dict[str, str]:
    """A user, and rules of which one is about each of the subjects."""
    users, rules = folder / "users", folder / "rules"
    users.write_text(f"alice:{hash_password('wonderland')}:groups=bench\n")
    users.chmod(0o600)
    own = [f"allow User:alice READ,WRITE SUBJECT LITERAL subject-{number}\n" for number in range(SUBJECTS)]
    others = [f"allow Group:bench READ SUBJECT PREFIXED team-{number}.\n" for number in range(RULES - 2 * SUBJECTS)]
    rules.write_text("".join(own + others))
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
    options = parser.parse_args()
    folder = temporary_folder("magicbyte-bench-")
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
            "signed in": stack.enter_context(running_registry(properties=settings(folder))),
        }
        targets = [Target(name, server.url, server.pid) for name, server in servers.items()]
        for target in targets:
            fill(target)
        for title, requests in reads.items():
            load = Load(32, requests, options.seconds)
            measures = {target.name: partial(load.drive, target) for target in targets}
            print_table(f"{title}, 32 clients", interleaved(measures, options.repeats), base="open")
    return 0


if __name__ == "__main__":
    sys.exit(main())
