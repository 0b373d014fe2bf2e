"""`magicbyte rest-proxy`: the Kafka REST proxy, in the foreground."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from magicbyte.cli.flags import add_bootstrap_servers, add_schema_registry_url
from magicbyte.cli.servers import common as servers
from magicbyte.cli.servers.command import Layer, OptionValue, ServerCommand, layers_of_server, resolved
from magicbyte.cli.servers.configured import SERVERS
from magicbyte.kit.command_line import CommandParser
from magicbyte.kit.failure import Failure

if TYPE_CHECKING:
    from magicbyte.kit.settings.catalog import Catalog

PREFIX = SERVERS["rest-proxy"].prefix


def main(arguments: Sequence[str]) -> int:
    """Serve until Ctrl-C or SIGTERM and return the exit code."""
    parser = CommandParser(
        prog="magicbyte rest-proxy",
        description=__doc__,
        examples=(
            "magicbyte rest-proxy --bootstrap-servers localhost:9092 --schema-registry-url http://localhost:8081",
        ),
    )
    _add_options(parser)
    options = parser.parse_args(arguments)
    properties = resolved(options, PREFIX, _layers(options))
    _complete(properties)
    return servers.run("rest_proxy", properties, start_when_closed=options.start_when_closed)


def _add_options(parser: CommandParser) -> None:
    add_bootstrap_servers(parser, default=None, help_text="the Kafka cluster")
    add_schema_registry_url(parser, "the schema registry")
    servers.add_server_options(parser, port=SERVERS["rest-proxy"].port)


def _layers(options: argparse.Namespace) -> list[Layer]:
    given = (
        OptionValue("listeners", "--listen or --port", servers.listeners(options.listen)),
        OptionValue("bootstrap.servers", "--bootstrap-servers", options.bootstrap_servers),
        OptionValue("schema.registry.url", "--schema-registry-url", options.schema_registry_url),
    )
    return layers_of_server(options, PREFIX, given)


def _complete(properties: dict[str, str]) -> None:
    """Check that there is a Kafka cluster.

    Raises:
        Failure: There is none.
    """
    if not properties.get("bootstrap.servers"):
        raise Failure("say which Kafka cluster it is for: --bootstrap-servers HOST:PORT")


def catalog() -> Catalog:
    """The catalog of the proxy's settings; needs the extra `server`."""
    servers.require_ours("rest_proxy")
    from magicbyte.kit.settings.catalog import server_catalog  # noqa: PLC0415 - needs the extra
    from rest_proxy.settings import RestProxySettings  # noqa: PLC0415

    return server_catalog(RestProxySettings, name="rest-proxy", prefix=PREFIX)


REST_PROXY = ServerCommand(
    name="rest-proxy",
    add_options=_add_options,
    layers=_layers,
    complete=_complete,
    stand_in={"bootstrap.servers": "localhost:9092"},
    checks="magicbyte.cli.config.rest_proxy_checks",
    catalog="magicbyte.cli.servers.rest_proxy:catalog",
)
