"""Shared parts of the commands that keep registries: connections to each of their ends, and exit codes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from magicbyte.kit.failure import Failure, say

if TYPE_CHECKING:
    from magicbyte.operations.sources.opening import Properties

#: The exit codes besides 0 and that of a `Failure`, which is 1.
UNREACHABLE = 3
FINDINGS = 100
#: The names of sources, for help texts.
SOURCES = "a registry's URL, kafka:HOST:PORT[/TOPIC], sqlite:///FILE, postgresql://.., or a file"


def add_end(parser: argparse.ArgumentParser, *, prefix: str = "", of: str = "the registry") -> None:
    """Add the options that say how to connect to one end.

    Args:
        parser: The command's parser.
        prefix: What the options' names begin with if a command has two ends, such as `to-`.
        of: The end, for the help texts.
    """

    def add(name: str, metavar: str, help_text: str, *, is_file: bool) -> None:
        parser.add_argument(
            f"--{prefix}{name}",
            action="append",
            default=[],
            metavar=metavar,
            help=help_text,
            type=Path if is_file else str,
        )

    add("config", "FILE", f"a .properties file of the client of {of}, with credentials", is_file=True)
    add(
        "property",
        "NAME=VALUE",
        f"of the client of {of}, such as basic.auth.user.info=${{file:PATH:KEY}}",
        is_file=False,
    )
    add("command-config", "FILE", f"a .properties file of the Kafka client of {of}", is_file=True)
    add("command-property", "NAME=VALUE", f"of the Kafka client of {of}", is_file=False)


def properties_of(options: argparse.Namespace, *, prefix: str = "") -> Properties:
    """The properties of the connection to an end, from the options of `add_end`.

    Raises:
        Failure: A file or an option cannot be read.
    """
    from magicbyte.operations.sources.opening import Properties  # noqa: PLC0415 - not for --help
    from serdes.client.config import short_names  # noqa: PLC0415 - as above
    from serdes.console import properties  # noqa: PLC0415 - as above
    from serdes.console.registry_settings import gather_settings  # noqa: PLC0415 - as above
    from serdes.error import ConfigError  # noqa: PLC0415 - as above

    given = {name: getattr(options, f"{prefix}{name}".replace("-", "_")) for name in _NAMES}
    kafka: dict[str, str] = {}
    try:
        registry = short_names(gather_settings(given["property"], given["config"]))
        for file in given["command-config"]:
            kafka |= properties.read_file(f"--{prefix}command-config", str(file))
        kafka |= properties.parse_pairs(f"--{prefix}command-property", given["command-property"])
    except ConfigError as error:
        raise Failure(str(error)) from None
    registry.pop("url", None)
    return Properties(registry, kafka)


def add_output(parser: argparse.ArgumentParser, *, of: str = "the output") -> None:
    """Add `--output`.

    Args:
        parser: The command's parser.
        of: What has the form, for the help text.
    """
    parser.add_argument("--output", choices=("text", "json"), default="text", help=f"the form of {of} (default text)")


def add_partial(parser: argparse.ArgumentParser) -> None:
    """Add `--partial`: without it, a source that does not show everything is refused."""
    parser.add_argument(
        "--partial",
        action="store_true",
        help="go on although a registry hides a part from this user, or a file lacks it",
    )


def names(text: str) -> tuple[str, ...]:
    """The names in a text with commas between them; the type of such options."""
    return tuple(name for part in text.split(",") if (name := part.strip()))


_NAMES = ("config", "property", "command-config", "command-property")


def ending(run: Callable[[], int]) -> int:
    """Run a command, and return its exit code; it is 3 if an end cannot be reached or refuses the client."""
    from magicbyte.operations.failures import Unreachable  # noqa: PLC0415 - not for --help

    try:
        return run()
    except Unreachable as error:
        say(str(error))
        return UNREACHABLE


def progress(text: str) -> None:
    """Write a line of progress to stderr."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
