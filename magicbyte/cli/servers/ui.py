"""`magicbyte ui`: the page in front of any registry that speaks Confluent's API, in the foreground.

The browser's credentials are passed on to the registry. Credentials of the settings are for requests without any, so
everybody who reaches the page then has them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from magicbyte.cli.flags import add_address, add_pipelines, add_schema_registry_url
from magicbyte.cli.registry_options import add_client_settings
from magicbyte.cli.servers.command import Layer, OptionValue, ServerCommand, layer_of_options, merged
from magicbyte.cli.servers.stopping import exit_on_signals
from magicbyte.kit.command_line import CommandParser
from magicbyte.kit.failure import Failure

if TYPE_CHECKING:
    from magicbyte.kit.settings.catalog import Catalog
    from magicbyte.ui.settings import UiSettings


def main(arguments: Sequence[str]) -> int:
    """Serve until Ctrl-C or SIGTERM and return the exit code."""
    parser = CommandParser(
        prog="magicbyte ui",
        description=__doc__,
        examples=("magicbyte ui --schema-registry-url https://registry.example.com --read-only --title production",),
    )
    _add_options(parser)
    options = parser.parse_args(arguments)
    # Imported here: --help does not need them, and they take long.
    from magicbyte.kit.settings import SettingsError  # noqa: PLC0415
    from magicbyte.ui.server import serve  # noqa: PLC0415
    from magicbyte.ui.settings import UiSettings  # noqa: PLC0415
    from serdes.error import SerdesError  # noqa: PLC0415

    exit_on_signals()
    try:
        client = merged(_layers(options))
        of_page = {name: client.pop(name) for name in list(client) if is_of_page(name)}
        settings = UiSettings.from_properties(of_page)
        require_http(settings)
        _complete(client)
        return serve(settings, client, on_start=lambda: _report(settings.listener.url))
    except (SettingsError, SerdesError) as error:
        raise Failure(str(error)) from error


def is_of_page(name: str) -> bool:
    """Whether a property is one of the page, and not of the client of the registry."""
    return name.startswith(("magicbyte.ui.", "magicbyte.log.")) or name in _OF_SERVER


def require_http(settings: UiSettings) -> None:
    """Check that the page is served over http.

    Raises:
        Failure: It is not.
    """
    if settings.listener.scheme != "http":
        raise Failure("--listen: the page is served over http; put a proxy that speaks TLS in front of it")


def _add_options(parser: CommandParser) -> None:
    add_schema_registry_url(parser, "the schema registry")
    parser.add_argument("--rest-url", metavar="URL", help="the Kafka REST proxy, for topics and messages")
    add_pipelines(parser)
    add_address(parser, host="127.0.0.1", port=8080)
    parser.add_argument("--read-only", action="store_true", help="refuse all writes, to the registry and to topics")
    parser.add_argument("--title", metavar="TEXT", help="shown at the top of the page, such as production")
    parser.add_argument("--color", metavar="#RRGGBB", help="the color of the title")
    parser.add_argument(
        "--allowed-host", action="append", default=[], metavar="NAME", help="a name of this server for its clients"
    )
    add_client_settings(parser)


def _layers(options: argparse.Namespace) -> list[Layer]:
    from serdes.console import registry_settings as client  # noqa: PLC0415 - --help does not need it
    from serdes.error import ConfigError  # noqa: PLC0415

    given = (
        OptionValue("listeners", "--listen or --port", options.listen),
        OptionValue("schema.registry.url", "--schema-registry-url", options.schema_registry_url),
        OptionValue("magicbyte.ui.rest.url", "--rest-url", options.rest_url),
        OptionValue("magicbyte.ui.pipelines", "--pipelines", options.pipelines),
        OptionValue("magicbyte.ui.read.only", "--read-only", "true" if options.read_only else None),
        OptionValue("magicbyte.ui.name", "--title", options.title),
        OptionValue("magicbyte.ui.color", "--color", options.color),
        OptionValue("magicbyte.allowed.hosts", "--allowed-host", ",".join(options.allowed_host) or None),
    )
    try:
        pairs = client.settings_of_pairs(options.property)
        return [
            Layer("file", client.settings_of_files(options.config)),
            Layer("environment", client.settings_of_environment()),
            Layer("option", pairs, dict.fromkeys(pairs, "--property")),
            layer_of_options(given),
        ]
    except ConfigError as error:
        raise Failure(str(error)) from error


def _complete(properties: dict[str, str]) -> None:
    """Check that there is a registry.

    Raises:
        Failure: There is none.
    """
    if "schema.registry.url" not in properties:
        raise Failure("say which registry the page is for: --schema-registry-url http://HOST:8081")


def catalog() -> Catalog:
    """The catalog of the page's settings; needs the extra `server`."""
    # After the check for the extra.
    from magicbyte.http.page_settings import PageSettings  # noqa: PLC0415
    from magicbyte.http.settings import HttpSettings  # noqa: PLC0415
    from magicbyte.kit.logs.settings import LogSettings  # noqa: PLC0415
    from magicbyte.kit.settings.catalog import Catalog, Group, server_group  # noqa: PLC0415
    from magicbyte.ui.settings import UiSettings  # noqa: PLC0415
    from serdes.client.catalog import client_groups  # noqa: PLC0415

    hosts = [row for row in server_group(HttpSettings, "", {}).rows if row.name in _OF_SERVER]
    server = server_group(UiSettings, "", {})
    groups = [
        Group(server.title, "", [*server.rows, *hosts]),
        server_group(PageSettings, "", {}),
        server_group(LogSettings, "", {}),
        *client_groups(),
    ]
    return Catalog(title="`magicbyte ui`", name="ui", groups=groups)


#: Properties of the page's server.
_OF_SERVER = ("listeners", "magicbyte.allowed.hosts")
UI = ServerCommand(
    name="ui",
    add_options=_add_options,
    layers=_layers,
    complete=_complete,
    stand_in={"schema.registry.url": "http://localhost:8081"},
    checks="magicbyte.cli.config.ui_checks",
    catalog="magicbyte.cli.servers.ui:catalog",
)


def _report(url: str) -> None:
    sys.stdout.write(f"page        {url}/ui/\n")
    sys.stdout.flush()
