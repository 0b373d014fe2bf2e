"""Clients of other languages against an open registry and a secured one: KafkaJS's on Node, franz-go's on Go.

    PYTHONPATH=. python -P tests/clients/run.py

A language that is not installed is named and left out; so is one whose packages cannot be fetched.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from magicbyte.kit.processes.process import temporary_folder
from magicbyte.testing.servers import running_registry
from tests.clients.secured_registry import SecuredRegistry, secured_registry


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


def run(client: Client, environment: Mapping[str, str]) -> bool:
    """Test one client in a copy of its folder; tells whether nothing failed.

    Args:
        client: The client.
        environment: Where the registries are, and how to sign in.
    """
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
        return subprocess.run(client.test, cwd=copy, env={**os.environ, **environment}, check=False).returncode == 0
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def ways_in(registry: SecuredRegistry) -> dict[str, str]:
    """The environment variables with which the tests sign in to the secured registry."""
    return {
        "SECURED_URL": registry.url,
        "SECURED_CA": str(registry.files.ca),
        "SECURED_CERTIFICATE": str(registry.files.client),
        "SECURED_BASIC": registry.admin["basic"]["basic.auth.user.info"],
        "SECURED_KEY": registry.admin["key"]["basic.auth.user.info"],
        "SECURED_TOKEN": registry.token,
    }


def main() -> int:
    with running_registry("memory:") as server, secured_registry() as secured:
        environment = {"REGISTRY_URL": server.url, **ways_in(secured)}
        results = [run(client, environment) for client in CLIENTS]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
