"""`magicbyte restore`: write a backup into a registry, a topic or a database, and read all of it back.

Ids, versions, guids, deletions and marks are kept, or nothing is written. A restore that was interrupted is run again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace

from magicbyte.cli.restore.options import add_options, part_options
from magicbyte.cli.source_options import FINDINGS, ending, progress, properties_of
from magicbyte.kit.command_line import CommandParser
from magicbyte.kit.secret import hide_user_info

TARGETS = "a registry's URL, or an empty log: kafka:HOST:PORT[/TOPIC], sqlite:///FILE or postgresql://.."


def main(arguments: Sequence[str]) -> int:
    """Restore a backup, print the result, and return the exit code."""
    parser = CommandParser(
        prog="magicbyte restore",
        description=__doc__,
        examples=(
            "magicbyte restore schemas.ndjson --to http://localhost:8081 --dry-run",
            "magicbyte restore schemas.raw.zst --to kafka:localhost:9092/_schemas",
            "magicbyte restore schemas.ndjson --to http://localhost:8081 --only id=20 --map-context .=.recovered",
        ),
    )
    add_options(parser, targets=TARGETS)
    add = parser.add_argument
    add("--dry-run", action="store_true", help="check everything, and write nothing")
    add(
        "--on-conflict",
        choices=("fail", "skip"),
        default="fail",
        help="what contradicts the target: write nothing (default), or leave it out and exit with 100",
    )
    add(
        "--accept",
        metavar="KIND,..",
        default="",
        help="faults of the backup and losses to accept, by the names that a refusal tells; exit with 100 after a loss",
    )
    add("--verify", choices=("full", "none"), default="full", help="read the target back (default full)")
    add(
        "--replication-factor",
        type=int,
        default=3,
        metavar="N",
        help="replicas of a new topic; fewer if there are fewer brokers (default 3)",
    )
    add("--topic-config", action="append", default=[], metavar="NAME=VALUE", help="a config of a new topic; repeatable")
    options = parser.parse_args(arguments)
    configs = dict(text.partition("=")[::2] for text in options.topic_config)
    if not all(name and value for name, value in configs.items()):
        parser.error("--topic-config needs NAME=VALUE")
    if options.replication_factor < 1:
        parser.error("--replication-factor must be at least 1")
    return ending(lambda: _run(options, configs))


def _run(options: argparse.Namespace, configs: dict[str, str]) -> int:
    from magicbyte.cli.restore.opened import opened  # noqa: PLC0415 - not for --help
    from magicbyte.cli.restore.report import restored_json, restored_text  # noqa: PLC0415 - not for --help
    from magicbyte.operations.restore.accepted import parse_accepted  # noqa: PLC0415 - as above
    from magicbyte.operations.restore.restoring import restore  # noqa: PLC0415 - as above
    from magicbyte.operations.restore.targets.opening import open_target  # noqa: PLC0415 - as above
    from magicbyte.operations.restore.targets.topic import NewTopic  # noqa: PLC0415 - as above

    chosen = replace(
        part_options(options),
        skips_conflicts=options.on_conflict == "skip",
        accepted=parse_accepted(options.accept),
        dry_run=options.dry_run,
        reads_back=options.verify == "full",
    )
    new_topic = NewTopic(options.replication_factor, configs)
    at = properties_of(options, prefix="to-")
    with opened(options) as (source, is_cut), open_target(options.target, at, new_topic) as target:
        restored = restore(source, target, chosen, progress)
        render = restored_json if options.output == "json" else restored_text
        sys.stdout.write(render(restored, hide_user_info(options.source), target.name, is_cut=is_cut))
    return 0 if restored.is_whole and not is_cut else FINDINGS
