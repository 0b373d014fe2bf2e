"""`magicbyte ui`: the page in front of any registry that speaks Confluent's API, in the foreground.

The browser's credentials are passed on to the registry. Credentials of the settings are for requests without any, so
everybody who reaches the page then has them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from magicbyte.cli.flags import add_address, add_pipelines, add_schema_registry_url
from magicbyte.cli.registry_options import add_client_settings
from magicbyte.cli.servers.stopping import exit_on_signals
from magicbyte.kit.command_line import CommandParser, accept_old_names
from magicbyte.kit.failure import Failure

#: The beginnings of properties that are the page's; the others are for the client of the registry.
_OF_PAGE = ("magicbyte.ui.", "magicbyte.log.")


def main(arguments: Sequence[str]) -> int:
    """Serve until Ctrl-C or SIGTERM and return the exit code."""
    parser = CommandParser(
        prog="magicbyte ui",
        description=__doc__,
        examples=("magicbyte ui --schema-registry-url https://registry.example.com --read-only --title production",),
    )
    add_schema_registry_url(parser, "the schema registry")
    parser.add_argument("--rest-url", metavar="URL", help="the Kafka REST proxy, for topics and messages")
    add_pipelines(parser)
    add_address(parser, host="127.0.0.1", port=8080)
    parser.add_argument("--read-only", action="store_true", help="refuse all writes, to the registry and to topics")
    title = parser.add_argument("--title", metavar="TEXT", help="shown at the top of the page, such as production")
    accept_old_names(parser, title, "--name")
    parser.add_argument("--color", metavar="#RRGGBB", help="the color of the title")
    parser.add_argument(
        "--allowed-host", action="append", default=[], metavar="NAME", help="a name of this server for its clients"
    )
    add_client_settings(parser)
    options = parser.parse_args(arguments)
    # Imported here: --help does not need them, and they take long.
    from magicbyte.kit.settings import SettingsError  # noqa: PLC0415
    from magicbyte.ui.server import serve  # noqa: PLC0415
    from magicbyte.ui.settings import UiSettings  # noqa: PLC0415
    from serdes.console.registry_settings import gather_settings  # noqa: PLC0415
    from serdes.error import SerdesError  # noqa: PLC0415

    exit_on_signals()
    try:
        client = gather_settings(options.property, options.config, url=options.schema_registry_url)
        of_page = {name: client.pop(name) for name in list(client) if name.startswith(_OF_PAGE)}
        settings = UiSettings.from_properties(of_page | _properties(options))
        if settings.listener.scheme != "http":
            raise Failure("--listen: the page is served over http; put a proxy that speaks TLS in front of it")
        if "schema.registry.url" not in client:
            raise Failure("say which registry the page is for: --schema-registry-url http://HOST:8081")
        return serve(settings, client, on_start=lambda: _report(settings.listener.url))
    except (SettingsError, SerdesError) as error:
        raise Failure(str(error)) from error


def _properties(options: argparse.Namespace) -> dict[str, str]:
    named = {
        "listeners": options.listen or "127.0.0.1:8080",
        "magicbyte.ui.rest.url": options.rest_url,
        "magicbyte.ui.pipelines": options.pipelines,
        "magicbyte.ui.read.only": "true" if options.read_only else None,
        "magicbyte.ui.name": options.title,
        "magicbyte.ui.color": options.color,
        "magicbyte.allowed.hosts": ",".join(options.allowed_host) or None,
    }
    return {name: value for name, value in named.items() if value is not None}


def _report(url: str) -> None:
    sys.stdout.write(f"page        {url}/ui/\n")
    sys.stdout.flush()
