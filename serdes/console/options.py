"""The flags that producing and consuming tools share, with old and new names."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import Any, NoReturn

from serdes.console.outcome import BAD_USAGE, OK
from serdes.error import ConfigError

PAIR: dict[str, Any] = {"metavar": "NAME=VALUE", "help": "a property; may be given many times"}
#: The old names of --command-property and --command-config.
LEGACY = {
    "producer": ("--producer-property", "--producer.config"),
    "consumer": ("--consumer-property", "--consumer.config"),
}


def number(text: str) -> int:
    """The type of flags that are integers from 0."""
    value = int(text)
    if value < 0:
        raise ValueError
    return value


def add_common(parser: argparse.ArgumentParser, legacy: tuple[str, str]) -> None:
    """Adds the shared flags to a parser."""
    add = parser.add_argument
    add("--bootstrap-server", dest="bootstrap", metavar="HOST:PORT,..", help="the brokers to connect to")
    add("--broker-list", metavar="HOST:PORT,..", help="the old name of --bootstrap-server")
    add("--command-property", legacy[0], dest="client_pairs", action="append", default=[], **PAIR)
    add("--command-config", legacy[1], dest="client_file", metavar="FILE", help="a .properties file for the client")
    add("--version", action=_Version, help="write the version")
    add("--quiet", action="store_true", help="do not write the count of records to stderr")
    parser.set_defaults(version=False)


class _Version(argparse.Action):
    """A flag that ends the program before required flags are checked."""

    def __init__(self, option_strings: list[str], dest: str, **kwargs: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, **kwargs)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        version_of(parser.prog)
        parser.exit(OK)


def version_of(program: str) -> int:
    """Writes the version to stdout; returns the exit code."""
    from magicbyte import __version__  # noqa: PLC0415

    sys.stdout.write(f"{program} {__version__} (magicbyte)\n")
    return OK


def bootstrap_of(options: argparse.Namespace, parser: argparse.ArgumentParser) -> str:
    """The value of --bootstrap-server, or of its old name."""
    bootstrap: str | None = options.bootstrap or options.broker_list
    if bootstrap is None:
        parser.error("the following arguments are required: --bootstrap-server")
    return bootstrap


def names_format(option: str, java_class: str | None, types: Mapping[str, str]) -> str | None:
    """The schema type of a Java class's name.

    Raises:
        ConfigError: The class is not one of `types`; Java classes cannot be loaded.
    """
    if java_class is None:
        return None
    short = java_class.rpartition(".")[2]
    if short not in types:
        raise ConfigError(
            option, f"{java_class} is not known: Java's classes cannot be loaded; known: {', '.join(types)}"
        )
    return types[short]


__all__ = ["BAD_USAGE", "LEGACY", "PAIR", "add_common", "bootstrap_of", "names_format", "number", "version_of"]
