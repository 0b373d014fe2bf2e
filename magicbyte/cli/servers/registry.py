"""`magicbyte registry`: the schema registry, in the foreground."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from magicbyte.cli.flags import add_bootstrap_servers, add_pipelines
from magicbyte.cli.servers import common as servers
from magicbyte.kit.command_line import CommandParser
from magicbyte.kit.failure import Failure

if TYPE_CHECKING:
    from magicbyte.http.page_settings import PageSettings
    from magicbyte.http.routing.extra_routes import ExtraRoutes


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
    parser.add_argument(
        "--storage", metavar="URL", help="memory:, sqlite:///FILE, postgresql://USER@HOST/DATABASE or kafka:"
    )
    add_bootstrap_servers(parser, default=None, help_text="the Kafka cluster that keeps the schemas")
    parser.add_argument("--workers", type=int, metavar="N", help="number of processes that serve requests")
    parser.add_argument("--rest-url", metavar="URL", help="the Kafka REST proxy, for the topics of the page at /ui/")
    add_pipelines(parser)
    servers.add_server_options(parser, port=8081)
    options = parser.parse_args(arguments)
    properties = servers.gather_properties(
        options,
        environment_prefix="SCHEMA_REGISTRY_",
        named={
            "listeners": servers.listeners(options.listen),
            "kafkastore.bootstrap.servers": options.bootstrap_servers,
            "magicbyte.storage": options.storage,
            "magicbyte.ui.rest.url": options.rest_url,
            "magicbyte.ui.pipelines": options.pipelines,
            "magicbyte.workers": None if options.workers is None else str(options.workers),
        },
    )
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
    return servers.run("registry", properties, start_when_closed=options.start_when_closed, extra_routes=_page)


def _page(settings: PageSettings) -> ExtraRoutes | None:
    """The routes of the page, unless the settings switch it off."""
    # Its dependencies take long to import.
    from magicbyte.ui.app import extra_routes  # noqa: PLC0415

    return extra_routes(settings) if settings.page_enabled else None
