"""The options that several commands share: one name and one meaning for each thing, in all commands.

`magicbyte/cli/flag_meanings.py` lists every option; docs/commands.md is generated from it.
"""

from __future__ import annotations

import argparse

BROKERS = "localhost:9092"


def add_bootstrap_servers(
    parser: argparse.ArgumentParser,
    *,
    default: str | None = BROKERS,
    help_text: str = f"the Kafka brokers (default {BROKERS})",
) -> None:
    """Add `--bootstrap-servers`, by both of its names: Kafka's tools have one, its properties the other."""
    parser.add_argument(
        "--bootstrap-servers", "--bootstrap-server", metavar="HOST:PORT,..", default=default, help=help_text
    )


def add_schema_registry_url(parser: argparse._ActionsContainer, help_text: str) -> None:
    """Add `--schema-registry-url`."""
    parser.add_argument("--schema-registry-url", metavar="URL", help=help_text)


def add_time_range(
    parser: argparse.ArgumentParser,
    *,
    since: str,
    until: str | None = None,
) -> None:
    """Add `--from` and, if it has a help, `--to`.

    Args:
        parser: The parser.
        since: The help of `--from`.
        until: The help of `--to`; None leaves it out.
    """
    parser.add_argument("--from", dest="since", metavar="TIME", help=since)
    if until is not None:
        parser.add_argument("--to", dest="until", metavar="TIME", help=until)


def add_address(parser: argparse.ArgumentParser, *, host: str, port: int, usual_host: str | None = None) -> None:
    """Add `--listen` and `--port`: a server's address, or its port alone.

    Args:
        parser: The parser; its options have the address as `listen`, None if it is not given.
        host: The address that goes with `--port`.
        port: The usual port.
        usual_host: The address without both options, if it is another one.
    """

    def port_number(text: str) -> str:
        return f"{host}:{int(text)}"

    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--listen", metavar="HOST:PORT", help=f"address to listen on (default {usual_host or host}:{port})"
    )
    where.add_argument(
        "--port", dest="listen", type=port_number, metavar="PORT", help=f"the port alone, on {host} (default {port})"
    )


def add_kafka_properties(parser: argparse.ArgumentParser) -> None:
    """Add the options for the properties of the Kafka client."""
    add = parser.add_argument
    add("--command-property", action="append", default=[], metavar="NAME=VALUE", help="of the Kafka client")
    add("--command-config", metavar="FILE", help="a .properties file of the Kafka client's")


def kafka_properties(options: argparse.Namespace) -> dict[str, str]:
    """The properties of the Kafka client; those of the command line override those of the file.

    Raises:
        ConfigError: The file cannot be read, or a property has no `=`.
    """
    from serdes.console import properties  # noqa: PLC0415 - not for --help

    read = properties.read_file("--command-config", options.command_config)
    return read | properties.parse_pairs("--command-property", options.command_property)


def add_pipelines(parser: argparse.ArgumentParser) -> None:
    """Add `--pipelines`, the metrics ports of pipelines that the page shows."""
    parser.add_argument(
        "--pipelines",
        type=_checked_pipelines,
        metavar="[NAME=]URL,..",
        help="the metrics ports of pipelines, for the page, such as http://127.0.0.1:9109",
    )


def _checked_pipelines(text: str) -> str:
    # Its dependencies take long to import, and need an extra.
    from magicbyte.http.metrics_ports import metrics_ports  # noqa: PLC0415

    try:
        metrics_ports(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text
