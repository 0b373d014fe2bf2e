"""`magicbyte mirror`: keeps one registry equal to another, or compares how two of them answer."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from magicbyte.cli.source_options import SOURCES, add_end, add_output, ending, progress, properties_of
from magicbyte.kit.command_line import CommandParser

_FROM, _TO = "from-", "to-"
_EPILOG = """\
A full sync makes B what A is; then every change of A is written to B as it happens, with its ids, versions, guids and
deletions. The mirrored contexts of B get the mode IMPORT, so that nobody else writes there; `magicbyte dr promote`
ends that. The mark of how far it is lies in B. The mirror may be killed and started again at any time.
"""


def parser() -> CommandParser:
    """The options of the command."""
    parser = CommandParser(
        prog="magicbyte mirror",
        description=f"Keep registry B equal to registry A. {_EPILOG}",
        examples=(
            "magicbyte mirror --from http://a:8081 --to http://b:8081 --metrics 127.0.0.1:9110",
            "magicbyte mirror --from http://a:8081 --to http://b:8081 --compare-requests access.log",
        ),
    )
    add = parser.add_argument
    add("--from", dest="source", required=True, metavar="SOURCE", help=f"what is mirrored: {SOURCES}")
    add(
        "--to", dest="target", required=True, metavar="TARGET", help="the URL of the Magicbyte registry that is written"
    )
    add(
        "--context",
        default="none",
        metavar="CONTEXT",
        help="B's context for A's default one; `none` keeps all contexts as they are (default), `auto` makes a name of "
        "A's cluster id",
    )
    add(
        "--subjects",
        default="",
        metavar="PATTERN,..",
        help="only subjects that match, such as orders-* or :.eu:*, and those that they refer to",
    )
    add("--rename", default="${subject}", metavar="TEXT", help="the subjects' names in B, such as dc1-${subject}")
    add("--once", action="store_true", help="end after the full sync")
    add("--no-deletes", action="store_true", help="keep in B what is deleted in A")
    add(
        "--adopt",
        action="store_true",
        help="delete in B what A lacks at the first full sync; also take over a B that was promoted, or is mirrored in "
        "another way",
    )
    add(
        "--poll",
        type=float,
        default=10.0,
        metavar="SECONDS",
        help="time between two reads of an A without a change feed (default 10)",
    )
    add("--metrics", metavar="[HOST]:PORT", help="serve metrics here")
    add(
        "--compare-requests",
        type=Path,
        metavar="FILE",
        help="write nothing; send the GET requests of this access log, or list of paths, to both, and show where the "
        "answers differ",
    )
    add_output(parser, of="that report")
    add_end(parser, prefix=_FROM, of="A")
    add_end(parser, prefix=_TO, of="B")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    options = parser().parse_args(arguments)
    if options.compare_requests is not None:
        return ending(lambda: _compare(options))
    return ending(lambda: _mirror(options))


def _mirror(options: argparse.Namespace) -> int:
    from magicbyte.kit.processes.stop_signals import handle_stop_signals  # noqa: PLC0415 - not for --help
    from magicbyte.operations.mirror.following import Follower, Timing  # noqa: PLC0415 - as above
    from magicbyte.operations.mirror.metrics import MetricsPort, MirrorMetrics  # noqa: PLC0415 - as above
    from magicbyte.operations.mirror.mirroring import Mirroring, Options  # noqa: PLC0415 - as above
    from magicbyte.operations.mirror.naming import checked_naming  # noqa: PLC0415 - as above
    from magicbyte.operations.mirror.origin import Origin  # noqa: PLC0415 - as above
    from magicbyte.operations.mirror.target import Target  # noqa: PLC0415 - as above

    metrics = MirrorMetrics()
    patterns = [pattern for pattern in options.subjects.split(",") if pattern]
    with ExitStack() as stack:
        source = stack.enter_context(Origin(options.source, properties_of(options, prefix=_FROM)))
        target = stack.enter_context(Target(options.target, properties_of(options, prefix=_TO).registry))
        if options.metrics:
            stack.enter_context(MetricsPort(options.metrics, metrics))
        automatic = source.context_name() if options.context == "auto" else ""
        naming = checked_naming(options.context, patterns, options.rename, automatic=automatic)
        chosen = Options(naming, deletes=not options.no_deletes, adopt=options.adopt)
        mirroring = Mirroring(source, target, chosen, _print_line, metrics)
        follower = Follower(source, mirroring, _print_line, Timing(poll_seconds=options.poll))
        if options.once:
            follower.run_once()
            return 0
        handle_stop_signals(lambda _number, _frame: follower.stop())
        follower.run()
    return 0


def _compare(options: argparse.Namespace) -> int:
    from magicbyte.cli.mirror.comparing import compare  # noqa: PLC0415 - not for --help

    return compare(options, properties_of(options, prefix=_FROM), properties_of(options, prefix=_TO))


def _print_line(text: str) -> None:
    progress(f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {text}")
