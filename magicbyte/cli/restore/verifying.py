"""`magicbyte verify`: compare all of a backup with what it was restored into, in both directions."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from magicbyte.cli.restore.options import add_options, part_options
from magicbyte.cli.source_options import FINDINGS, SOURCES, ending, names, progress, properties_of
from magicbyte.kit.command_line import CommandParser
from magicbyte.kit.secret import hide_user_info


def main(arguments: Sequence[str]) -> int:
    """Compare a backup with a target, print the differences, and return the exit code."""
    parser = CommandParser(
        prog="magicbyte verify",
        description=__doc__,
        examples=("magicbyte verify schemas.ndjson --to http://localhost:8081",),
    )
    add_options(parser, targets=f"what it is compared with: {SOURCES}")
    parser.add_argument(
        "--ignore", metavar="NAME,..", default="", help="kinds of differences that do not count, such as ts,marks"
    )
    options = parser.parse_args(arguments)
    return ending(lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    from magicbyte.cli.restore.opened import opened  # noqa: PLC0415 - not for --help
    from magicbyte.cli.restore.report import verified_json, verified_text  # noqa: PLC0415 - not for --help
    from magicbyte.kit.failure import Failure  # noqa: PLC0415 - as above
    from magicbyte.operations.comparison.difference import IGNORABLE  # noqa: PLC0415 - as above
    from magicbyte.operations.restore.verifying import verify  # noqa: PLC0415 - as above
    from magicbyte.operations.sources.opening import open_source  # noqa: PLC0415 - as above

    ignored = frozenset(names(options.ignore))
    if unknown := sorted(ignored - IGNORABLE):
        raise Failure(f"--ignore {unknown[0]}: there is {', '.join(sorted(IGNORABLE))}")
    chosen = part_options(options)
    at = properties_of(options, prefix="to-")
    with opened(options) as (source, is_cut), open_source(options.target, at) as target:
        verified = verify(source, target, chosen, progress, ignored=ignored)
        render = verified_json if options.output == "json" else verified_text
        sys.stdout.write(render(verified, hide_user_info(options.source), target.name, is_cut=is_cut))
    return 0 if verified.comparison.is_equal and not is_cut else FINDINGS
