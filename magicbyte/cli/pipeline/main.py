"""`magicbyte pipeline`: Spark jobs from a YAML file.

Exit codes: 0, 1 if it failed, 2 for a wrong call or file, 3 if a broker, registry or target cannot be reached, 100 if a
check or test found something.
"""

from __future__ import annotations

import argparse
import importlib
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
from magicbyte.kit.command_line import CommandParser

#: Command -> its help, its options, its module and function, and the arguments of an example.
COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None], str, str]] = {
    "run": (
        "run it; a stop signal ends it after the batch",
        run_options,
        "running:run",
        "orders.yaml --until-caught-up",
    ),
    "lint": ("check the file alone, without Spark and network", lint_options, "checking:lint", "orders.yaml"),
    "schema": (
        "write the JSON Schema of pipeline files, for editors",
        no_options,
        "checking:schema",
        "> pipeline.schema.json",
    ),
    "dry-run": (
        "run it on some real records, and write nothing",
        dry_run_options,
        "preview:dry_run",
        "orders.yaml --rows 20",
    ),
    "explain": ("tell sources, schemas, columns and guarantees", explain_options, "preview:explain", "orders.yaml"),
    "test": (
        "compare the results of given records with expected ones",
        test_options,
        "testing:test",
        "orders.yaml --cases tests/orders",
    ),
    "status": (
        "show the last batch and the lag; for several pipelines, a table with a row for each",
        status_options,
        "progress:status",
        "orders.yaml flows/ --output json",
    ),
    "offsets": (
        "show the offsets, or write them to a consumer group",
        offsets_options,
        "progress:offsets",
        "orders.yaml --group orders-flow",
    ),
    "backfill": (
        "run it over a range of the past",
        backfill_options,
        "upkeep:backfill",
        "orders.yaml --from 2026-10-01 --to 2026-10-02 --replace",
    ),
    "compact": (
        "rewrite small files of closed hours as large ones",
        compact_options,
        "upkeep:compact",
        "orders.yaml --older-than 2h",
    ),
    "submit": (
        "print the spark-submit line",
        submit_options,
        "submitting:submit",
        "orders.yaml --master yarn --deploy-mode cluster",
    ),
    "main": ("print the path of the program for spark-submit", no_options, "submitting:program", ""),
    "unit": ("print the systemd unit that runs it", unit_options, "deploy.unit:unit", "orders.yaml --user magicbyte"),
    "manifest": (
        "print the SparkApplication that runs it in Kubernetes",
        manifest_options,
        "deploy.manifest:manifest",
        "orders.yaml --image registry.example.com/magicbyte-spark:1",
    ),
    "from-connect": (
        "make a file of a Kafka Connect sink's configuration",
        connect_options,
        "connect.main:convert",
        "sink.json > orders.yaml",
    ),
}

#: Commands whose argument is no pipeline file.
_WITHOUT_FILE = ("schema", "from-connect", "main")


def main(arguments: Sequence[str]) -> int:
    """Run a command on a pipeline file; returns the exit code."""
    return pipeline_outcome(lambda: _run(arguments))


def _run(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    module, _, function = COMMANDS[options.command][2].partition(":")
    run: Callable[[argparse.Namespace], int] = getattr(
        importlib.import_module(f"magicbyte.cli.pipeline.{module}"), function
    )
    return run(options)


def _parser() -> argparse.ArgumentParser:
    parser = CommandParser(prog=PROGRAM, description=__doc__, examples=("magicbyte pipeline lint orders.yaml",))
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (text, add_options, _, example) in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=text,
            description=f"{text[0].upper()}{text[1:]}.",
            examples=(f"{PROGRAM} {name} {example}".rstrip(),),
        )
        if name not in _WITHOUT_FILE:
            add_file(command)
            add_overrides(command)
        add_options(command)
    return parser
