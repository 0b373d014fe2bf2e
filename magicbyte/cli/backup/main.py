"""`magicbyte backup`: write a registry to a file that is complete or not there.

The source is a registry's URL, `kafka:HOST:PORT[/TOPIC]`, `sqlite:///FILE`, `postgresql://..`, or a file of this
command or of another tool. docs/backup.md says what is in the file.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from magicbyte.cli.backup.outputs import show, tell
from magicbyte.cli.source_options import SOURCES, add_end, ending, properties_of
from magicbyte.kit.command_line import CommandParser

PROGRAM = "magicbyte backup"
_FORMS = ("logical", "raw")
_OUTPUTS = ("text", "json")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_LONGEST = 366 * 86400


def _parser() -> CommandParser:
    parser = CommandParser(
        prog=PROGRAM,
        usage=f"{PROGRAM} SOURCE -o FILE [OPTION ...]",
        description=__doc__,
        examples=(
            "magicbyte backup http://localhost:8081 -o registry.ndjson.zst",
            "magicbyte backup kafka:localhost:9092 --format raw -o schemas.ndjson.zst",
            "magicbyte backup http://localhost:8081 -o registry.ndjson.zst --every 1h --keep 48 --metrics :9404",
        ),
    )
    add = parser.add_argument
    add("source", metavar="SOURCE", help=SOURCES)
    add(
        "--output-file",
        "-o",
        dest="file",
        metavar="FILE",
        type=Path,
        required=True,
        help="the file; compressed with Zstandard if its name ends in .zst",
    )
    add("--format", choices=_FORMS, default="logical", help="the state, or every record of the log (default logical)")
    add("--context", metavar="CONTEXT", help="this context alone, without the global settings")
    add("--no-deleted", action="store_true", help="leave out soft-deleted versions that no schema refers to")
    add("--partial", action="store_true", help="make a backup although the registry hides a part from this user")
    add(
        "--anonymize",
        metavar="KEYFILE",
        type=Path,
        help="replace names and texts by tokens under the key in this file; verdicts stay",
    )
    add("--every", type=_seconds, metavar="TIME", help="make one now and every TIME, such as 15m, 1h or 1d")
    add("--keep", type=_count, metavar="N", help="with --every: delete all but the newest N backups")
    add(
        "--metrics", metavar="[HOST]:PORT|FILE", help="serve Prometheus metrics (with --every), or write them to a file"
    )
    add("--output", choices=_OUTPUTS, default="text", help="the form of what is printed (default text)")
    add_end(parser)
    return parser


def main(arguments: Sequence[str]) -> int:
    """Make one backup, or one at every turn; returns the exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    _refuse_contradictions(options, parser)
    return ending(lambda: _run(options))


def _refuse_contradictions(options: argparse.Namespace, parser: CommandParser) -> None:
    if options.format == "raw" and (options.context is not None or options.no_deleted or options.partial):
        parser.error("--format raw has every record: it excludes --context, --no-deleted and --partial")
    if options.format == "raw" and options.anonymize is not None:
        parser.error("--format raw has every record byte for byte: it excludes --anonymize")
    if options.keep is not None and options.every is None:
        parser.error("--keep needs --every")
    if options.every is None and options.metrics is not None:
        from magicbyte.operations.backup.metrics import is_port  # noqa: PLC0415 - not for --help

        if is_port(options.metrics):
            parser.error("a port of --metrics needs --every; name a file")


def _run(options: argparse.Namespace) -> int:
    from magicbyte.operations.anonymize.reading import read_key  # noqa: PLC0415 - not for --help
    from magicbyte.operations.backup.making import BackupRequest, make_backup  # noqa: PLC0415 - as above
    from magicbyte.operations.backup.metrics import BackupMetrics  # noqa: PLC0415 - as above

    wanted = BackupRequest(
        options.source,
        properties_of(options),
        options.format,
        options.context,
        not options.no_deleted,
        options.partial,
        None if options.anonymize is None else read_key(options.anonymize),
    )
    if options.every is not None:
        from magicbyte.cli.backup.every import run_every  # noqa: PLC0415 - as above

        return run_every(wanted, options, lambda written: show(written, options.output))
    written = make_backup(wanted, options.file, tell=tell)
    # The backup is there, whether its metrics can be written or not.
    show(written, options.output)
    if options.metrics:
        BackupMetrics(str(options.file), options.metrics).made(written)
    return 0


def _seconds(text: str) -> float:
    match = re.fullmatch(r"([0-9]{1,9})([smhd])", text)
    seconds = int(match[1]) * _UNITS[match[2]] if match else 0
    if not 1 <= seconds <= _LONGEST:
        raise argparse.ArgumentTypeError(f"{text!r} is no time such as 30s, 15m, 1h or 1d, of a year at most")
    return seconds


def _count(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,6}", text) or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    return int(text)
