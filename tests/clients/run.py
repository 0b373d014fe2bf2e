"""Clients of other languages against a running registry: KafkaJS's on Node, franz-go's on Go.

    python -P tests/clients/run.py

A language that is not installed is named and left out; so is one whose packages cannot be fetched.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from magicbyte.kit.process import temporary_folder
from magicbyte.testing.servers import running_registry


@dataclass(frozen=True, slots=True)
class Client:
    """A client in a folder beside this file: the programs it needs, how to fetch what it uses, how to test."""

    name: str
    folder: str
    programs: Sequence[str]
    fetch: Sequence[str]
    test: Sequence[str]


CLIENTS = (
    Client(
        "@kafkajs/confluent-schema-registry",
        "kafkajs",
        ("node", "npm"),
        ("npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--silent"),
        ("node", "--test"),
    ),
    Client("franz-go's pkg/sr", "franz", ("go",), ("go", "mod", "download"), ("go", "test", "-count=1", "./...")),
)


def run(client: Client, url: str) -> bool:
    """Test one client in a copy of its folder; tells whether nothing failed."""
    missing = [program for program in client.programs if shutil.which(program) is None]
    if missing:
        print(f"-- {client.name}: left out, there is no {' and no '.join(missing)}")
        return True
    folder = temporary_folder("magicbyte-client-")
    try:
        copy = shutil.copytree(Path(__file__).parent / client.folder, folder / client.folder)
        fetched = subprocess.run(client.fetch, cwd=copy, capture_output=True, text=True, check=False)
        if fetched.returncode:
            print(f"-- {client.name}: left out, its packages can't be fetched:\n{fetched.stdout}{fetched.stderr}")
            return True
        print(f"-- {client.name}", flush=True)
        return (
            subprocess.run(client.test, cwd=copy, env=os.environ | {"REGISTRY_URL": url}, check=False).returncode == 0
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    with running_registry("memory:") as server:
        results = [run(client, server.url) for client in CLIENTS]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
