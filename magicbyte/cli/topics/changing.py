"""`magicbyte topics create`, `alter` and `delete`."""

from __future__ import annotations

import argparse

from magicbyte.cli.admin_options import confirm, open_admin, tell_deleted
from magicbyte.kafka_admin import configs, topics
from magicbyte.kafka_admin.topics import Topic
from magicbyte.kit.plural import plural
from serdes.console import properties
from serdes.console.outcome import BAD_USAGE, NOT_DELIVERED, OK, Ended


def run_create(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Create a topic, and write to stdout that it was created."""
    del parser
    name: str = options.topic
    config = properties.parse_pairs("--topic-config", options.topic_config)
    admin = open_admin(options)
    is_new = name not in admin.topic_names()
    partitions, factor = (
        topics.DEFAULT if given is None else given for given in (options.partitions, options.replication_factor)
    )
    if is_new:
        is_new = topics.create(admin, name, partitions, factor, config)
    if not is_new and not options.if_not_exists:
        raise Ended(NOT_DELIVERED, f"topic {name} exists already")
    print(f"topic {name} {'created' if is_new else 'exists already'}")
    return OK


def run_alter(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Change a topic, and write each change to stdout; all changes are checked before the first is made."""
    values = properties.parse_pairs("--topic-config", options.topic_config)
    if options.partitions is None and not values and not options.delete_config:
        parser.error("topics alter needs --partitions, --topic-config or --delete-config")
    twice = sorted(values.keys() & set(options.delete_config))
    if twice:
        parser.error(f"--topic-config and --delete-config both name {twice[0]}")
    admin = open_admin(options)
    admin.topic_names()
    (topic,) = topics.topics(admin, [options.topic])
    changes_configs = bool(values or options.delete_config)
    if options.partitions is not None:
        topics.check_partitions(topic, options.partitions)
    if changes_configs:
        configs.alter(admin, topic.name, values, options.delete_config, dry_run=True)
    if options.partitions is not None:
        is_new = topics.add_partitions(admin, topic, options.partitions)
        print(f"topic {topic.name}: {plural(options.partitions, 'partition')}{'' if is_new else ' already'}")
    if changes_configs:
        configs.alter(admin, topic.name, values, options.delete_config, dry_run=False)
        for name, value in values.items():
            print(f"topic {topic.name}: {name}={value}")
        for name in options.delete_config:
            print(f"topic {topic.name}: {name} has its default")
    return OK


def run_delete(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Delete topics, and write each to stdout; none is deleted if one of them does not exist."""
    del parser
    admin = open_admin(options)
    admin.topic_names()
    names = list(dict.fromkeys(options.topics))
    if options.if_exists:
        by_name = topics.existing(admin, names)
        found = [topic for topic in by_name.values() if topic is not None]
        for name in (name for name, topic in by_name.items() if topic is None):
            print(f"topic {name} does not exist")
    else:
        found = topics.topics(admin, names)
    for topic in found:
        if topic.is_internal:
            raise Ended(BAD_USAGE, f"topic {topic.name} holds Kafka's own state and is not deleted")
    if found and not options.yes:
        shown = ", ".join(map(_described, topics.with_offsets(admin, found)))
        confirm(f"Delete {shown}?", is_confirmed=False)
    errors = topics.delete(admin, [topic.name for topic in found]) if found else {}
    tell_deleted("topic", errors)
    return OK


def _described(topic: Topic) -> str:
    counts = [partition.count for partition in topic.partitions]
    offsets = "" if None in counts else f", {plural(sum(count or 0 for count in counts), 'offset')}"
    return f"{topic.name} ({plural(len(topic.partitions), 'partition')}{offsets})"
