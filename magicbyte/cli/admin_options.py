"""Shared parts of the commands for topics and groups: client, names of topics, and questions before a deletion."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from magicbyte.cli.flags import add_bootstrap_servers, add_kafka_properties, kafka_properties
from magicbyte.kit.kafka.client_settings import may_be_topic
from serdes.console.kafka import take_patience
from serdes.console.outcome import BAD_DATA, BAD_USAGE, Ended

if TYPE_CHECKING:
    from magicbyte.kafka_admin.connection import Admin


def add_client(parser: argparse.ArgumentParser) -> None:
    """Add the options for the brokers and their client."""
    add_bootstrap_servers(parser)
    add_kafka_properties(parser)


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add `--output`."""
    parser.add_argument(
        "--output", choices=("table", "json"), default="table", help="the form of the output (default table)"
    )


def open_admin(options: argparse.Namespace) -> Admin:
    """The admin client that the options select.

    Raises:
        ConfigError: A property or file is wrong.
        KafkaSettingsError: A property cannot be applied.
    """
    from magicbyte.kafka_admin.connection import Admin  # noqa: PLC0415 - not for --help

    kafka = kafka_properties(options)
    patience = take_patience(kafka)
    return Admin(options.bootstrap_servers, kafka, patience)


def topic_name(text: str) -> str:
    """The type of arguments that name a topic."""
    if not may_be_topic(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no topic's name")
    return text


def tell_deleted(what: str, errors: Mapping[str, Exception | None]) -> None:
    """Write what was deleted, each by its name, and then raise the first error."""
    for name, error in errors.items():
        if error is None:
            print(f"{what} {name} deleted")
    for error in filter(None, errors.values()):
        raise error


def confirm(question: str, *, is_confirmed: bool) -> None:
    """Ask on the terminal before something is deleted.

    Args:
        question: What to ask.
        is_confirmed: Whether --yes was given: nothing is asked.

    Raises:
        Ended: The answer is not yes, or there is no terminal to ask on.
    """
    if is_confirmed:
        return
    if not sys.stdin.isatty():
        raise Ended(BAD_USAGE, "nothing was deleted: without a terminal to ask on, --yes is needed")
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        raise Ended(BAD_DATA, "nothing was deleted")
