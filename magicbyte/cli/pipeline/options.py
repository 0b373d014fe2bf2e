"""The options of the commands of pipelines."""

from __future__ import annotations

import argparse
from pathlib import Path

from magicbyte.cli.flags import add_time_range


def add_file(parser: argparse.ArgumentParser) -> None:
    """Add the pipeline file."""
    parser.add_argument("file", metavar="FILE", help="the pipeline file")


def add_overrides(parser: argparse.ArgumentParser) -> None:
    """Add settings over the file's, and the choice of one of several pipelines."""
    add = parser.add_argument
    add(
        "--set", dest="overrides", action="append", default=[], metavar="NAME=VALUE", help="such as source.start=latest"
    )
    add("--name", metavar="NAME", help="the pipeline, if the file has several")


def _add_master(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--master", default="local[*]", metavar="URL", help="where Spark runs (default local[*])")


def run_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `run`."""
    add = parser.add_argument
    _add_master(parser)
    add("--until-caught-up", action="store_true", help="end when all records are read that are there")
    add_time_range(
        parser,
        since="one batch over the records since a time, beside the checkpoint",
        until="with --from: the records before a time (default: the end)",
    )
    add("--instance", metavar="N", help="run it under the name NAME-N, on a checkpoint of its own")
    add("--adopt", action="store_true", help="take over a target that another checkpoint has written to")
    add(
        "--new-state",
        action="store_true",
        help="begin with empty state for steps that remember rows, at the offsets that are committed",
    )
    add("--metrics", metavar="[HOST]:PORT|FILE", help="serve Prometheus metrics and /health, or write them to a file")
    add("--log-format", choices=("text", "json"), default="text", help="the form of the pipeline's log lines")
    _add_unhealthy_after(parser)


def _add_unhealthy_after(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--unhealthy-after",
        metavar="TIME",
        help="longest time of a batch before /health answers 503, such as 30m (default: 10 minutes, plus"
        " registry.patience for each decoded column and errors.retry.for for each sink)",
    )


def lint_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `lint`."""
    parser.add_argument("files", nargs="*", metavar="FILE", help="more pipeline files")


def no_options(_parser: argparse.ArgumentParser) -> None:
    """Add nothing: the command has no options of its own."""


def dry_run_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `dry-run`."""
    _add_master(parser)
    parser.add_argument(
        "--rows", type=int, default=100, metavar="N", help="maximum number of records to read (default 100)"
    )


def explain_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `explain`."""
    _add_master(parser)


def test_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `test`."""
    _add_master(parser)
    add = parser.add_argument
    add("--cases", type=Path, required=True, metavar="DIR", help="a folder for each case; see docs/pipelines.md")
    add("--update", action="store_true", help="write the results as the expected ones")


def status_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `status`."""
    add = parser.add_argument
    add("files", nargs="*", metavar="FILE|DIR", help="more files, and folders: a table of all their pipelines")
    add("--output", choices=("table", "json"), default="table", help="the form of the output (default table)")
    _add_master(parser)


def offsets_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `offsets`."""
    parser.add_argument("--group", metavar="GROUP", help="write the offsets to this consumer group")
    _add_master(parser)


def backfill_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `backfill`."""
    add = parser.add_argument
    add_time_range(parser, since="the records since a time", until="the records before a time")
    add("--offsets", action="append", default=[], metavar="[TOPIC:]P:N-P:M", help="offsets N to M of partition P")
    add("--replace", action="store_true", help="replace what was written of these offsets")
    _add_master(parser)


def compact_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `compact`."""
    add = parser.add_argument
    add("--older-than", required=True, metavar="TIME", help="only hours that are closed for so long, such as 2h")
    add("--target", metavar="SIZE", help="the size of a file, such as 128MB (default: that of the sink)")
    add(
        "--offline",
        action="store_true",
        help="nobody reads the folder of plain files meanwhile, who might see rows twice",
    )
    add(
        "--grace",
        metavar="TIME",
        help="instead of --offline: keep the old plain files for so long, such as 1h, for readers that have listed the"
        " folder; readers that list it within that time see rows twice (default: delete them at once)",
    )
    _add_master(parser)


def submit_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `submit`."""
    add = parser.add_argument
    _add_master(parser)
    add("--deploy-mode", choices=("client", "cluster"), default="client", help="where the driver runs (default client)")
    add("--exec", dest="execute", action="store_true", help="run the line instead of printing it")


def connect_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `from-connect`."""
    parser.add_argument("config", metavar="CONFIG.json", help="the configuration of a sink connector")


def unit_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `unit`."""
    add = parser.add_argument
    _add_master(parser)
    add("--user", metavar="USER", help="the account that runs it (default: yours)")
    add(
        "--environment-file",
        metavar="PATH",
        help="the file with the variables of placeholders (default /etc/magicbyte/NAME.env)",
    )
    add(
        "--metrics",
        default="127.0.0.1:9109",
        metavar="[HOST]:PORT|FILE",
        help="the port of metrics and /health, one for each pipeline of a host (default 127.0.0.1:9109)",
    )
    _add_unhealthy_after(parser)


def manifest_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `manifest`."""
    add = parser.add_argument
    add("--image", metavar="IMAGE", help="the image (default: spark.kubernetes.container.image of the file)")
    add("--program", metavar="PATH", help="main.py in the image (default: its path here)")
    add("--secret", metavar="NAME", help="the Secret with the variables of placeholders (default: the pipeline's name)")
    add("--metrics-port", type=int, default=9109, metavar="PORT", help="the port of metrics and /health (default 9109)")
    _add_unhealthy_after(parser)
