"""`magicbyte pipeline`: Spark jobs from a YAML file.

Exit codes: 0, 1 if it failed, 2 for a wrong call or file, 3 if a broker, registry or target cannot be reached, 100 if a
check or test found something.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from magicbyte.cli.pipeline.options import (
    add_file,
    add_overrides,
    backfill_options,
    compact_options,
    connect_options,
    dry_run_options,
    explain_options,
    lint_options,
    manifest_options,
    no_options,
    offsets_options,
    run_options,
    status_options,
    submit_options,
    test_options,
    unit_options,
)
from magicbyte.cli.pipeline.outcome import PROGRAM, pipeline_outcome
from magicbyte.cli.subcommands import Subcommand, function_of, parser_of


def _of_file(add_options: Callable[[argparse.ArgumentParser], None]) -> Callable[[argparse.ArgumentParser], None]:
    """The options of a command whose argument is a pipeline file."""

    def add(parser: argparse.ArgumentParser) -> None:
        add_file(parser)
        add_overrides(parser)
        add_options(parser)

    return add


COMMANDS = {
    "run": Subcommand(
        "run it; a stop signal ends it after the batch",
        _of_file(run_options),
        "orders.yaml --until-caught-up",
        "magicbyte.cli.pipeline.running:run",
    ),
    "lint": Subcommand(
        "check the file alone, without Spark and network",
        _of_file(lint_options),
        "orders.yaml",
        "magicbyte.cli.pipeline.checking:lint",
    ),
    "schema": Subcommand(
        "write the JSON Schema of pipeline files, for editors",
        no_options,
        "> pipeline.schema.json",
        "magicbyte.cli.pipeline.checking:schema",
    ),
    "dry-run": Subcommand(
        "run it on some real records, and write nothing",
        _of_file(dry_run_options),
        "orders.yaml --rows 20",
        "magicbyte.cli.pipeline.preview:dry_run",
    ),
    "explain": Subcommand(
        "tell sources, schemas, columns and guarantees",
        _of_file(explain_options),
        "orders.yaml",
        "magicbyte.cli.pipeline.preview:explain",
    ),
    "test": Subcommand(
        "compare the results of given records with expected ones",
        _of_file(test_options),
        "orders.yaml --cases tests/orders",
        "magicbyte.cli.pipeline.testing:test",
    ),
    "status": Subcommand(
        "show the last batch and the lag; for several pipelines, a table with a row for each",
        _of_file(status_options),
        "orders.yaml flows/ --output json",
        "magicbyte.cli.pipeline.progress:status",
    ),
    "offsets": Subcommand(
        "show the offsets, or write them to a consumer group",
        _of_file(offsets_options),
        "orders.yaml --group orders-flow",
        "magicbyte.cli.pipeline.progress:offsets",
    ),
    "backfill": Subcommand(
        "run it over a range of the past",
        _of_file(backfill_options),
        "orders.yaml --from 2026-10-01 --to 2026-10-02 --replace",
        "magicbyte.cli.pipeline.upkeep:backfill",
    ),
    "compact": Subcommand(
        "rewrite small files of closed hours as large ones",
        _of_file(compact_options),
        "orders.yaml --older-than 2h",
        "magicbyte.cli.pipeline.upkeep:compact",
    ),
    "submit": Subcommand(
        "print the spark-submit line",
        _of_file(submit_options),
        "orders.yaml --master yarn --deploy-mode cluster",
        "magicbyte.cli.pipeline.submitting:submit",
    ),
    "main": Subcommand(
        "print the path of the program for spark-submit", no_options, "", "magicbyte.cli.pipeline.submitting:program"
    ),
    "unit": Subcommand(
        "print the systemd unit that runs it",
        _of_file(unit_options),
        "orders.yaml --user magicbyte",
        "magicbyte.cli.pipeline.deploy.unit:unit",
    ),
    "manifest": Subcommand(
        "print the SparkApplication that runs it in Kubernetes",
        _of_file(manifest_options),
        "orders.yaml --image registry.example.com/magicbyte-spark:1",
        "magicbyte.cli.pipeline.deploy.manifest:manifest",
    ),
    "from-connect": Subcommand(
        "make a file of a Kafka Connect sink's configuration",
        connect_options,
        "sink.json > orders.yaml",
        "magicbyte.cli.pipeline.connect.main:convert",
    ),
}


def main(arguments: Sequence[str]) -> int:
    """Run a command on a pipeline file; returns the exit code."""
    return pipeline_outcome(lambda: _run(arguments))


def _run(arguments: Sequence[str]) -> int:
    options = parser_of(PROGRAM, __doc__, COMMANDS).parse_args(arguments)
    code: int = function_of(COMMANDS[options.command])(options)
    return code
