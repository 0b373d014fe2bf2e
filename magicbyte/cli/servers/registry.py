"""`magicbyte registry`: the schema registry, in the foreground."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from magicbyte.cli.flags import add_bootstrap_servers, add_pipelines
from magicbyte.cli.servers import common as servers
from magicbyte.cli.servers.command import Layer, OptionValue, ServerCommand, layers_of_server, resolved
from magicbyte.cli.servers.configured import SERVERS
from magicbyte.kit.command_line import CommandParser
from magicbyte.kit.failure import Failure

if TYPE_CHECKING:
    from magicbyte.http.page_settings import PageSettings
    from magicbyte.http.routing.extra_routes import ExtraRoutes
    from magicbyte.kit.settings.catalog import Catalog

PREFIX = SERVERS["registry"].prefix


def main(arguments: Sequence[str]) -> int:
    """Serve until Ctrl-C or SIGTERM and return the exit code."""
    parser = CommandParser(
        prog="magicbyte registry",
        description=__doc__,
        examples=(
            "magicbyte registry --storage sqlite:///schemas.db",
            "magicbyte registry --bootstrap-servers localhost:9092 --port 8085",
            "magicbyte registry --storage postgresql://registry@db.example.com/schemas --workers 4",
        ),
    )
    _add_options(parser)
    options = parser.parse_args(arguments)
    properties = resolved(options, PREFIX, _layers(options))
    _complete(properties)
    return servers.run("registry", properties, start_when_closed=options.start_when_closed, extra_routes=_page)


def _add_options(parser: CommandParser) -> None:
    parser.add_argument(
        "--storage", metavar="URL", help="memory:, sqlite:///FILE, postgresql://USER@HOST/DATABASE or kafka:"
    )
    add_bootstrap_servers(parser, default=None, help_text="the Kafka cluster that keeps the schemas")
    parser.add_argument("--workers", type=int, metavar="N", help="number of processes that serve requests")
    parser.add_argument("--rest-url", metavar="URL", help="the Kafka REST proxy, for the topics of the page at /ui/")
    add_pipelines(parser)
    servers.add_server_options(parser, port=SERVERS["registry"].port, usual_host="127.0.0.1")


def _layers(options: argparse.Namespace) -> list[Layer]:
    given = (
        OptionValue("listeners", "--listen or --port", servers.listeners(options.listen)),
        OptionValue("kafkastore.bootstrap.servers", "--bootstrap-servers", options.bootstrap_servers),
        OptionValue("magicbyte.storage", "--storage", options.storage),
        OptionValue("magicbyte.ui.rest.url", "--rest-url", options.rest_url),
        OptionValue("magicbyte.ui.pipelines", "--pipelines", options.pipelines),
        OptionValue("magicbyte.workers", "--workers", None if options.workers is None else str(options.workers)),
    )
    return layers_of_server(options, PREFIX, given)


def _complete(properties: dict[str, str]) -> None:
    """Add the storage that follows from the Kafka cluster.

    Raises:
        Failure: Nothing says where the schemas are, or which Kafka cluster keeps them.
    """
    if "kafkastore.bootstrap.servers" in properties:
        properties.setdefault("magicbyte.storage", "kafka:")
    storage = properties.get("magicbyte.storage")
    if storage is None:
        raise Failure(
            "say where the schemas are to be kept: --storage sqlite:///FILE, --storage postgresql://USER@HOST/DATABASE,"
            " --bootstrap-servers HOST:PORT for Kafka, or --storage memory: to lose them at the end"
        )
    if storage.startswith("kafka:") and "kafkastore.bootstrap.servers" not in properties:
        raise Failure("--storage kafka: needs --bootstrap-servers HOST:PORT")


def catalog() -> Catalog:
    """The catalog of the registry's settings; needs the extra `server`."""
    servers.require_ours("registry")
    from magicbyte.kit.settings.catalog import server_catalog  # noqa: PLC0415 - needs the extra
    from registry.settings import RegistrySettings  # noqa: PLC0415

    return server_catalog(RegistrySettings, name="registry", prefix=PREFIX)


REGISTRY = ServerCommand(
    name="registry",
    add_options=_add_options,
    layers=_layers,
    complete=_complete,
    stand_in={"magicbyte.storage": "memory:"},
    checks="magicbyte.cli.config.registry_checks",
    catalog="magicbyte.cli.servers.registry:catalog",
)


def _page(settings: PageSettings) -> ExtraRoutes | None:
    """The routes of the page, unless the settings switch it off."""
    # Its dependencies take long to import.
    from magicbyte.ui.app import extra_routes  # noqa: PLC0415

    return extra_routes(settings) if settings.page_enabled else None
