"""`status` and `offsets`: how far a pipeline is."""

from __future__ import annotations

import argparse
import json
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from magicbyte.cli.pipeline.checkpoint_folders import checkpoint_folders
from magicbyte.cli.pipeline.overview import is_overview, overview
from magicbyte.cli.pipeline.session import read_file
from magicbyte.kit.secret import hide_user_info
from serdes.console.outcome import BAD_DATA, Ended

if TYPE_CHECKING:
    from spark_avro.pipeline.file.pipeline import Pipeline
    from spark_avro.pipeline.run.progress import Progress


def status(options: argparse.Namespace) -> int:
    """Show the last batch, who runs the pipeline, the lag of each partition, and what changed while it ran.

    Several files, and the files of folders, are a row each.
    """
    if is_overview(options):
        return overview(options)
    pipeline = read_file(options)
    progress = _progress(options, pipeline)
    if options.output == "json":
        print(json.dumps(progress.as_json()))
        return 0
    owner = progress.owner
    print(f"pipeline   {pipeline.name}")
    print(f"query      {progress.query_id or 'none: it has not run on this checkpoint'}")
    print(f"batch      {'none' if progress.batch is None else progress.batch}")
    print(f"run by     {'nobody' if owner is None else owner}")
    if progress.partitions:
        print(f"\n{'topic':30} {'partition':>9} {'offset':>12} {'end':>12} {'lag':>12}")
    for part in progress.partitions:
        print(f"{part.topic:30} {part.partition:>9} {part.offset:>12} {part.end:>12} {part.lag:>12}")
    if progress.state is not None:
        _print_state(progress)
    if progress.changes:
        print("\nchanges")
    for change in progress.changes:
        schemas = (
            f"id {number}" if version is None else f"id {number} (version {version})"
            for number, version in change.schemas.items()
        )
        print(f"{change.time}  batch {change.batch}  {', '.join(schemas)}".rstrip())
        for statement in change.statements:
            print(f"    {statement}")
    return 0


def _print_state(progress: Progress) -> None:
    """Show what steps keep, the watermark, and which input holds it."""
    assert progress.state is not None
    print(f"\nwatermark  {progress.state.watermark or 'none yet'}")
    for number, (name, newest) in enumerate(progress.holders):
        held = "  holds the watermark" if number == 0 and len(progress.holders) > 1 else ""
        print(f"           {name}: newest row {newest}{held}")
    print(f"\n{'state':30} {'rows':>12} {'memory':>12} {'disk':>12} {'late':>12}")
    for operator in progress.state.operators:
        print(f"{operator.name:30} {operator.rows:>12} {operator.memory:>12} {operator.disk:>12} {operator.late:>12}")
    for name, count in progress.state.unmatched.items():
        print(f"{name}: {count} rows without a match")


def offsets(options: argparse.Namespace) -> int:
    """Show the offsets of the last finished batch, or write them to a consumer group."""
    pipeline = read_file(options)
    progress = _progress(options, pipeline)
    if options.group:
        _commit(pipeline, progress, options.group)
        print(f"group {options.group} has the offsets of batch {progress.batch}")
        return 0
    for part in progress.partitions:
        print(f"{part.topic} {part.partition} {part.offset}")
    return 0


def _progress(options: argparse.Namespace, pipeline: Pipeline) -> Progress:
    from spark_avro.pipeline.run.progress import progress_of  # noqa: PLC0415 - after the check for PySpark

    try:
        with ExitStack() as sessions:
            return progress_of(checkpoint_folders(options.master, sessions)(pipeline), pipeline)
    except OSError as error:
        reason = error.strerror or str(error)
        raise Ended(
            BAD_DATA, f"the checkpoint {hide_user_info(pipeline.checkpoint)} cannot be read: {reason}"
        ) from error


def _commit(pipeline: Any, progress: Any, group: str) -> None:
    """Write offsets to a group, so that tools for lag see them."""
    from confluent_kafka import Consumer, TopicPartition  # noqa: PLC0415 - not for --help

    from magicbyte.kit.kafka.client_settings import client_config  # noqa: PLC0415

    consumer = Consumer(
        {**client_config(pipeline.kafka, role="consumer"), "group.id": group, "enable.auto.commit": False}
    )
    try:
        positions = [TopicPartition(part.topic, part.partition, part.offset) for part in progress.partitions]
        if positions:
            consumer.commit(offsets=positions, asynchronous=False)
    finally:
        consumer.close()
