"""`backfill` and `compact`: write a pipeline's output again, or compact it."""

from __future__ import annotations

import argparse
import sys

from magicbyte.cli.pipeline.outcome import FINDINGS, PROGRAM
from magicbyte.cli.pipeline.session import converted, pipeline_session, read_file, time_of
from serdes.console.outcome import tell
from serdes.error import ConfigError


def backfill(options: argparse.Namespace) -> int:
    """Process a range of the source again; returns the exit code."""
    pipeline = read_file(options)
    if bool(options.offsets) == bool(options.since or options.until):
        raise ConfigError("backfill", "name the range: --from and --to, or --offsets")
    from spark_avro.pipeline.sources.time_range import ranges_between  # noqa: PLC0415 - with Spark
    from spark_avro.pipeline.upkeep.backfill import backfill as run_backfill  # noqa: PLC0415
    from spark_avro.pipeline.upkeep.ranges import parse_range, words  # noqa: PLC0415

    try:
        topics = [topic for topic in pipeline.topics if topic not in pipeline.table_topics]
        ranges = tuple(parse_range(text, topics) for text in options.offsets)
    except ValueError as error:
        raise ConfigError("--offsets", str(error)) from error
    with pipeline_session(pipeline, options.master) as spark:
        if not ranges:
            ranges = ranges_between(spark, pipeline, time_of(options.since), time_of(options.until))
        result = run_backfill(pipeline, spark, ranges, replace=options.replace)
    sys.stdout.write(f"{pipeline.name}: {words(result.ranges)}: {result.line()}\n")
    for finding in result.findings:
        tell(PROGRAM, finding)
    return FINDINGS if result.findings else 0


def compact(options: argparse.Namespace) -> int:
    """Compact the sinks; returns the exit code."""
    pipeline = read_file(options)
    from magicbyte.kit.settings.kinds import duration, size  # noqa: PLC0415 - not for --help
    from spark_avro.pipeline.upkeep.compact import compact as run_compact  # noqa: PLC0415

    older_than = converted("--older-than", options.older_than, duration(), "a time such as 2h")
    target = converted("--target", options.target, size(), "a size such as 128MB")
    grace = converted("--grace", options.grace, duration(), "a time such as 1h")
    if options.offline and grace is not None:
        raise ConfigError("compact", "--grace keeps files for readers, and --offline says that there are none")
    with pipeline_session(pipeline, options.master) as spark:
        for line in run_compact(pipeline, spark, older_than, target=target, offline=options.offline, grace=grace):
            sys.stdout.write(f"{line}\n")
    return 0
