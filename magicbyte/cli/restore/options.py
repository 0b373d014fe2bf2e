"""The options that `restore` and `verify` share: the backup, the target, and the part of the backup that is meant."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from magicbyte.cli.source_options import SOURCES, add_end, add_partial

if TYPE_CHECKING:
    from magicbyte.operations.restore.restoring import Options

FORMS = ("text", "json")


def add_options(parser: argparse.ArgumentParser, *, targets: str) -> None:
    """Add the options.

    Args:
        parser: The command's parser.
        targets: What may be a target, for the help text.
    """
    add = parser.add_argument
    add("source", metavar="FILE", help=f"the backup, or another source: {SOURCES}")
    add("--to", metavar="TARGET", required=True, dest="target", help=targets)
    add(
        "--only",
        action="append",
        default=[],
        metavar="PATTERN",
        help="only id=N, id=:.CONTEXT:N, subject=GLOB or context=.NAME, with all that it refers to; repeatable",
    )
    add(
        "--map-context",
        action="append",
        default=[],
        metavar="A=B",
        help="what was in the context A is in the context B, such as .=.recovered; repeatable",
    )
    add("--cut-file", action="store_true", help="accept a file that was cut: what is left of it counts; exit code 100")
    add_partial(parser)
    add("--output", choices=FORMS, default="text", help="the form of the result (default text)")
    add_end(parser, of="the source")
    add_end(parser, prefix="to-", of="the target")


def part_options(options: argparse.Namespace) -> Options:
    """The part of the backup that the options name, and whether an end may hide something.

    Raises:
        Failure: A pattern or a mapping is wrong.
    """
    from magicbyte.operations.restore.mapping import parse_mapping  # noqa: PLC0415 - not for --help
    from magicbyte.operations.restore.restoring import Options  # noqa: PLC0415 - as above
    from magicbyte.operations.restore.selecting import parse_selection  # noqa: PLC0415 - as above

    only, contexts = tuple(map(parse_selection, options.only)), parse_mapping(options.map_context)
    return Options(only, contexts, partial=options.partial)
