"""The options of `magicbyte dead-letter` as values: the topic, the clients and the time."""

from __future__ import annotations

import argparse

from magicbyte.cli.flags import kafka_properties
from magicbyte.cli.records.consume import milliseconds
from magicbyte.dead_letters.kafka_clients import GROUP, KafkaClients
from magicbyte.dead_letters.letters_topic import LettersTopic
from magicbyte.kit.kafka.client_settings import client_config
from serdes.console.kafka import consumer_config, producer_config, take_patience


def letters_topic(options: argparse.Namespace) -> LettersTopic:
    """The topic of dead letters.

    Raises:
        ConfigError, KafkaSettingsError: A property is wrong.
    """
    servers = options.bootstrap_servers
    properties = kafka_properties(options)
    patience = take_patience(properties)
    # Skip the letters of aborted transactions.
    reading = {"isolation.level": "read_committed", **properties}
    clients = KafkaClients(
        consumer_config(servers, reading, group=GROUP, committing=False),
        producer_config(servers, properties, {}),
        client_config({**properties, "bootstrap.servers": servers}, role="admin"),
        patience,
    )
    return LettersTopic(options.topic, clients)


def since(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int | None:
    """The timestamp of --from, in milliseconds; None without it."""
    return None if options.since is None else milliseconds(options.since, "--from", parser)
