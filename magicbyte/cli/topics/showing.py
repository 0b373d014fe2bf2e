"""`magicbyte topics list` and `magicbyte topics describe`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from magicbyte.cli.admin_options import open_admin
from magicbyte.cli.tables import aligned
from magicbyte.kafka_admin.configs import own_configs
from magicbyte.kafka_admin.topics import Partition, Topic, all_topics, topics, with_offsets
from magicbyte.kit.plural import plural
from serdes.console.outcome import OK

Configs = Mapping[str, str | None]
_HEADS = ("partition", "leader", "replicas", "in sync", "begin", "end", "offsets")
#: The indexes of the columns with numbers.
_RIGHT = frozenset((0, 1, 4, 5, 6))


def run_list(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Write the topics to stdout."""
    del parser
    listed = [topic for topic in all_topics(open_admin(options)) if options.internal or not topic.is_internal]
    if options.output == "json":
        _write_json([_summary(topic) for topic in listed])
        return OK
    rows = [
        (topic.name, str(len(topic.partitions)), str(topic.replication_factor), "yes" if topic.is_internal else "")
        for topic in listed
    ]
    if rows:
        _write_lines(aligned([("topic", "partitions", "replicas", "internal"), *rows], (1, 2)))
    return OK


def run_describe(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Write topics with their partitions and configs to stdout."""
    del parser
    admin = open_admin(options)
    if options.topics:
        admin.topic_names()
        described = topics(admin, list(dict.fromkeys(options.topics)))
    else:
        described = [topic for topic in all_topics(admin) if not topic.is_internal]
    if options.under_replicated:
        described = [topic for topic in described if any(one.is_under_replicated for one in topic.partitions)]
    described = with_offsets(admin, described)
    configs = own_configs(admin, [topic.name for topic in described])
    shown = [
        (topic, [one for one in topic.partitions if one.is_under_replicated or not options.under_replicated])
        for topic in described
    ]
    if options.output == "json":
        _write_json([_summary(topic) | _details(partitions, configs[topic.name]) for topic, partitions in shown])
    else:
        tables = (_table(topic, partitions, configs[topic.name]) for topic, partitions in shown)
        sys.stdout.write("\n".join("".join(f"{line}\n" for line in table) for table in tables))
    return OK


def _table(topic: Topic, shown: Sequence[Partition], configs: Configs | None) -> Iterator[str]:
    counts = [partition.count for partition in topic.partitions]
    total = "" if None in counts else f", {plural(sum(count or 0 for count in counts), 'offset')}"
    partitions = plural(len(topic.partitions), "partition")
    internal = ", internal" if topic.is_internal else ""
    yield f"{topic.name}: {partitions}, replication factor {topic.replication_factor}{total}{internal}"
    yield from aligned([_HEADS, *map(_row, shown)], _RIGHT)
    if configs is None:
        yield "  configs: the broker does not show them to this client"
    for name, value in (configs or {}).items():
        yield f"  {name}={'(hidden)' if value is None else value}"


def _row(partition: Partition) -> Sequence[str]:
    return (
        str(partition.number),
        "none" if partition.leader is None else str(partition.leader),
        ",".join(map(str, partition.replicas)),
        ",".join(map(str, partition.in_sync)) or "none",
        *("-" if count is None else f"{count:,}" for count in (partition.begin, partition.end, partition.count)),
    )


def _summary(topic: Topic) -> dict[str, Any]:
    return {
        "topic": topic.name,
        "internal": topic.is_internal,
        "partitionCount": len(topic.partitions),
        "replicationFactor": topic.replication_factor,
    }


def _details(shown: Sequence[Partition], configs: Configs | None) -> dict[str, Any]:
    return {
        "partitions": [
            {
                "partition": partition.number,
                "leader": partition.leader,
                "replicas": partition.replicas,
                "inSync": partition.in_sync,
                "begin": partition.begin,
                "end": partition.end,
            }
            for partition in shown
        ],
        "configs": configs,
    }


def _write_json(values: Sequence[Mapping[str, Any]]) -> None:
    sys.stdout.write(json.dumps({"topics": values}, indent=2) + "\n")


def _write_lines(lines: Iterator[str]) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
