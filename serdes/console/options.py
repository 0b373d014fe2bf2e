"""Flags that both kinds of tools have, under their old and new names."""

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
    """A whole number that is not negative."""
    value = int(text)
    if value < 0:
        raise ValueError
    return value


def add_common(parser: argparse.ArgumentParser, legacy: tuple[str, str]) -> None:
    """Adds the flags of both kinds."""
    add = parser.add_argument
    add("--bootstrap-server", dest="bootstrap", metavar="HOST:PORT,..", help="the brokers to connect to")
    add("--broker-list", metavar="HOST:PORT,..", help="the old name of --bootstrap-server")
    add("--command-property", legacy[0], dest="client_pairs", action="append", default=[], **PAIR)
    add("--command-config", legacy[1], dest="client_file", metavar="FILE", help="a .properties file of the client's")
    add("--version", action=_Version, help="tell the version")
    add("--quiet", action="store_true", help="no count of records on stderr")
    parser.set_defaults(version=False)


class _Version(argparse.Action):
    """Ends before required flags are missed."""

    def __init__(self, option_strings: list[str], dest: str, **kwargs: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, **kwargs)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        version_of(parser.prog)
        parser.exit(OK)


def version_of(program: str) -> int:
    """Writes the version."""
    from magicbyte import __version__  # noqa: PLC0415

    sys.stdout.write(f"{program} {__version__} (magicbyte)\n")
    return OK


def bootstrap_of(options: argparse.Namespace, parser: argparse.ArgumentParser) -> str:
    """The brokers, by either name."""
    bootstrap: str | None = options.bootstrap or options.broker_list
    if bootstrap is None:
        parser.error("the following arguments are required: --bootstrap-server")
    return bootstrap


def names_format(option: str, java_class: str | None, known: Mapping[str, str]) -> str | None:
    """The schema type that a class's name stands for.

    Raises:
        ConfigError: It is no such class; Java's own cannot be loaded.
    """
    if java_class is None:
        return None
    short = java_class.rpartition(".")[2]
    if short not in known:
        raise ConfigError(
            option, f"{java_class} is not known: Java's classes cannot be loaded; known: {', '.join(known)}"
        )
    return known[short]


__all__ = ["BAD_USAGE", "LEGACY", "PAIR", "add_common", "bootstrap_of", "names_format", "number", "version_of"]
