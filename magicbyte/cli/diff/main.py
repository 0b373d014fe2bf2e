"""`magicbyte diff`: compare two registries, or what they were backed up to.

Differences are sorted, the worst first: an id that means different schemas comes before a time that differs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from magicbyte.cli.source_options import FINDINGS, SOURCES, add_end, add_partial, ending, names, progress, properties_of
from magicbyte.kit.command_line import CommandParser

if TYPE_CHECKING:
    from magicbyte.cli.diff.result import Result
    from magicbyte.operations.sources.opening import Properties
    from magicbyte.operations.sources.port import Reading

PROGRAM = "magicbyte diff"
#: What the options of the second source begin with.
_OTHER = "other-"
_SHOWN = 20


def main(arguments: Sequence[str]) -> int:
    """Print what differs between two sources, and return the exit code."""
    options = _parser().parse_args(arguments)
    return ending(lambda: _compare(options))


def _parser() -> CommandParser:
    parser = CommandParser(
        prog=PROGRAM,
        description=__doc__,
        examples=(
            "magicbyte diff http://registry-a:8081 http://registry-b:8081",
            "magicbyte diff registry.ndjson http://localhost:8081 --ignore ts,config",
            "magicbyte diff kafka:localhost:9092 http://localhost:8081 --format html > differences.html",
        ),
    )
    add = parser.add_argument
    add("left", metavar="A", help=f"the left side: {SOURCES}")
    add("right", metavar="B", help="the right side, named in the same way")
    add(
        "--ignore",
        type=_names,
        default=frozenset(),
        metavar="NAME,..",
        help="kinds of differences that do not count: config, content, contexts, deleted, ids, marks, mode, subjects,"
        " text, ts or versions",
    )
    add("--format", choices=("text", "json", "html"), default="text", help="the form of what is printed (default text)")
    add(
        "--examples",
        type=_count,
        default=_SHOWN,
        metavar="N",
        help=f"maximum number of differences of each kind that are shown, except in json (default {_SHOWN})",
    )
    add_partial(parser)
    add_end(parser, of="A")
    add_end(parser, prefix=_OTHER, of="B")
    return parser


def _names(text: str) -> frozenset[str]:
    from magicbyte.operations.comparison.difference import IGNORABLE  # noqa: PLC0415 - not for --help

    ignored = frozenset(names(text))
    if unknown := sorted(ignored - IGNORABLE):
        known = ", ".join(sorted(IGNORABLE))
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: unknown; known are {known}")
    return ignored


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 on")
    return int(text)


def _compare(options: argparse.Namespace) -> int:
    from magicbyte.cli.diff.result import Result  # noqa: PLC0415 - not for --help
    from magicbyte.operations.comparison.compare import compare  # noqa: PLC0415 - as above

    left = _read(options.left, properties_of(options), partial=options.partial)
    right = _read(options.right, properties_of(options, prefix=_OTHER), partial=options.partial)
    comparison = compare(left.state, right.state, ignored=options.ignore)
    result = Result(left, right, comparison, options.ignore, options.examples)
    for piece in _writers()[options.format](result):
        sys.stdout.write(piece)
    return 0 if comparison.is_equal else FINDINGS


def _read(name: str, properties: Properties, *, partial: bool) -> Reading:
    from magicbyte.operations.sources.opening import open_source  # noqa: PLC0415 - not for --help
    from magicbyte.operations.sources.wholeness import require_whole  # noqa: PLC0415 - as above

    with open_source(name, properties) as source:
        progress(f"reading {source.name}")
        reading = source.read()
    require_whole(reading.origin.name, reading.withheld, "nothing was compared", partial=partial)
    return reading


def _writers() -> Mapping[str, Callable[[Result], Iterable[str]]]:
    from magicbyte.cli.diff import outputs, page  # noqa: PLC0415 - not for --help

    return {"text": outputs.text, "json": outputs.as_json, "html": page.page}
