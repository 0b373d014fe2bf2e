"""The two servers that a container or a unit runs: variables, ports and listeners; without the imports of a server."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from magicbyte.cli.flags import add_address
from magicbyte.kit.environment import properties_from_environment

REGISTRY, REST_PROXY = "registry", "rest-proxy"
#: The command that runs the server that the variables configure.
SERVE = "serve"


@dataclass(frozen=True, slots=True)
class Server:
    """A server that the environment may configure.

    Attributes:
        prefix: The prefix of its environment variables.
        port: Its default port.
        needed: The properties that choose this server; Confluent's images require the first.
    """

    prefix: str
    port: int
    needed: tuple[str, ...]


SERVERS = {
    REGISTRY: Server("SCHEMA_REGISTRY_", 8081, ("kafkastore.bootstrap.servers", "magicbyte.storage")),
    REST_PROXY: Server("KAFKA_REST_", 8082, ("bootstrap.servers",)),
}


def servers_of_environment() -> list[str]:
    """The servers that the variables of this process configure."""
    return [
        name
        for name, server in SERVERS.items()
        if any(properties_from_environment(server.prefix).get(needed) for needed in server.needed)
    ]


def command_in(words: Sequence[str]) -> list[str]:
    """The words of a `magicbyte` command that runs a server: its name and its options; empty if it is none."""
    for before, name in enumerate(words[1:]):
        is_ours = Path(words[before]).name == "magicbyte" or words[before] == "magicbyte.cli.main"
        if is_ours and name in (*SERVERS, SERVE):
            return list(words[before + 1 :])
    return []


def first_process() -> list[str]:
    """The command line of the first process, which is a container's server."""
    try:
        return Path("/proc/1/cmdline").read_bytes().decode().rstrip("\0").split("\0")
    except (OSError, UnicodeDecodeError):
        return []


def address_options(name: str) -> argparse.ArgumentParser:
    """A parser of the options of a server that tell where it listens."""
    parser = argparse.ArgumentParser(add_help=False)
    add_address(parser, host="0.0.0.0", port=SERVERS[name].port)  # noqa: S104  as the servers
    parser.add_argument("--config", type=Path)
    return parser


def listener_properties(name: str, *, config: Path | None, listen: str | None) -> Mapping[str, str]:
    """The properties of a server that tell where it listens; the command line wins, then the variables.

    Raises:
        OSError, UnicodeDecodeError: The file cannot be read.
    """
    from magicbyte.kit.properties_file import read_properties_file  # noqa: PLC0415  most containers have no file

    properties = read_properties_file(config) if config is not None else {}
    properties = {**properties, **properties_from_environment(SERVERS[name].prefix)}
    return properties if listen is None else {**properties, "listeners": listen}
