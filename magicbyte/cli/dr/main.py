"""`magicbyte dr`: going over to a standby registry, and trying a recovery out."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack

from magicbyte.cli.source_options import FINDINGS, SOURCES, add_end, add_output, ending, progress, properties_of
from magicbyte.cli.subcommands import Subcommand, run
from magicbyte.kit.command_line import CommandParser
from magicbyte.kit.failure import Failure
from magicbyte.kit.plural import plural

_FROM, _TO = "from-", "to-"
#: How many differences a text lists.
_LISTED = 20


def _promote_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--to", dest="target", required=True, metavar="TARGET", help="the URL of the registry that is mirrored to")
    add(
        "--from", dest="source", metavar="SOURCE", help=f"what it is mirrored from, to compare if it answers: {SOURCES}"
    )
    add(
        "--context",
        default=".",
        metavar="CONTEXT",
        help="the --context of the mirror, if it is not `none`; `auto` is the only one that B has",
    )
    add(
        "--id-gap",
        type=_gap,
        default=10_000,
        metavar="N",
        help="number of ids of each context that are left out, since a lost A may have given them (default 10000)",
    )
    add("--force", action="store_true", help="promote although B is not what A is")
    add_output(parser)
    add_end(parser, prefix=_FROM, of="A")
    add_end(parser, prefix=_TO, of="B")


def _drill_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--from", dest="source", metavar="SOURCE", help=f"the registry that would be lost: {SOURCES}")
    add(
        "--to",
        dest="target",
        metavar="TARGET",
        help="the URL of an empty registry, which is emptied again; by default one in memory is started for the drill",
    )
    add("--file", metavar="FILE", help="restore this backup instead of mirroring A")
    add_output(parser)
    add_end(parser, prefix=_FROM, of="A")
    add_end(parser, prefix=_TO, of="SCRATCH")


def _gap(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is no number of ids from 0")
    return int(text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the subcommand and return its exit code."""
    return run(PROGRAM, DESCRIPTION, SUBCOMMANDS, sys.argv[1:] if arguments is None else arguments)


def run_promote(_parser: CommandParser, options: argparse.Namespace) -> int:
    """Run `dr promote`."""
    return ending(lambda: _promote(options))


def run_drill(_parser: CommandParser, options: argparse.Namespace) -> int:
    """Run `dr drill`."""
    return ending(lambda: _drill(options))


def _promote(options: argparse.Namespace) -> int:
    from magicbyte.operations.mirror.origin import Origin  # noqa: PLC0415 - not for --help
    from magicbyte.operations.mirror.target import Target  # noqa: PLC0415 - as above
    from magicbyte.operations.recovery.promote import Promotion, promote  # noqa: PLC0415 - as above
    from registry.state.model import GLOBAL_CONTEXT  # noqa: PLC0415 - as above

    roots = {".": ".", "none": ".", "auto": None}
    root = roots.get(options.context, f".{options.context.removeprefix('.')}")
    with ExitStack() as stack:
        target = stack.enter_context(Target(options.target, properties_of(options, prefix=_TO).registry))
        source = (
            stack.enter_context(Origin(options.source, properties_of(options, prefix=_FROM)))
            if options.source
            else None
        )
        promotion: Promotion = promote(
            target, source, root=root, id_gap=options.id_gap, force=options.force, tell=progress
        )
        name = target.name
    if options.output == "json":
        sys.stdout.write(json.dumps(promotion.to_json(), indent=2) + "\n")
    else:
        _show_differences(promotion.differences)
        for context, ids in promotion.contexts.items():
            of_source = "" if ids.get("source") is None else f", {ids['source']} in the source"
            seen = "" if "target" not in ids else f"highest id {ids['target']}{of_source}; "
            name_shown = "contexts without ids" if context == GLOBAL_CONTEXT else f"context {context}"
            sys.stdout.write(f"{name_shown}: {seen}the next id is above {ids['mark']}\n")
        for mode_of, mode in promotion.modes.items():
            sys.stdout.write(f"mode of {mode_of}: {mode or 'none of its own'}\n")
    since = f"{promotion.lag_seconds:.0f} s ago"
    count = plural(len(promotion.differences), "difference")
    progress(
        {
            "promoted": f"{name} takes writes. It was last changed by the mirror of {promotion.source} {since}.",
            "before": f"{name} was promoted earlier; nothing is changed.",
            "refused": f"{name} is not promoted: {count} from {promotion.source}. Let the mirror catch up, or pass "
            "--force.",
        }[promotion.state]
    )
    return FINDINGS if promotion.state == "refused" else 0


def _drill(options: argparse.Namespace) -> int:
    from magicbyte.operations.mirror.origin import Origin  # noqa: PLC0415 - not for --help
    from magicbyte.operations.mirror.target import Target  # noqa: PLC0415 - as above
    from magicbyte.operations.recovery.drill import drill_backup, drill_mirror, emptied  # noqa: PLC0415 - as above
    from magicbyte.operations.sources.opening import Properties, open_source  # noqa: PLC0415 - as above

    if not options.source and not options.file:
        raise Failure("a drill needs --from A, --file BACKUP, or both")
    with ExitStack() as stack:
        source = (
            stack.enter_context(Origin(options.source, properties_of(options, prefix=_FROM)))
            if options.source
            else None
        )
        if options.target:
            url, properties = options.target, properties_of(options, prefix=_TO)
        else:
            from magicbyte.cli.dr.scratch import scratch_registry  # noqa: PLC0415 - as above

            url, properties = stack.enter_context(scratch_registry()), Properties()
        scratch = stack.enter_context(Target(url, properties.registry))
        if options.target:
            stack.enter_context(emptied(scratch, progress))
        if options.file:
            backup = stack.enter_context(open_source(options.file, Properties()))
            drill = drill_backup(backup, source, scratch)
        else:
            assert source is not None
            drill = drill_mirror(source, scratch, progress)
    if options.output == "json":
        sys.stdout.write(json.dumps(drill.to_json(), indent=2) + "\n")
    else:
        _show_differences(drill.differences)
        took = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in drill.seconds.items())
        sys.stdout.write(f"{plural(drill.versions, 'version')} of {drill.source}: {took}\n")
        if drill.behind is not None:
            sys.stdout.write(f"{options.source} has {plural(drill.behind, 'version')} that the backup lacks\n")
    progress(f"the copy has {plural(len(drill.differences), 'difference')}")
    return FINDINGS if drill.differences else 0


def _show_differences(differences: Sequence[str]) -> None:
    sys.stdout.write("".join(f"{one}\n" for one in differences[:_LISTED]))
    if len(differences) > _LISTED:
        sys.stdout.write(f"and {len(differences) - _LISTED} more\n")


PROGRAM = "magicbyte dr"
DESCRIPTION = "Go over to a standby registry, or try a recovery out."
SUBCOMMANDS = {
    "promote": Subcommand(
        "let a mirrored registry take writes",
        _promote_options,
        "--to http://b:8081 --from http://a:8081",
        "magicbyte.cli.dr.main:run_promote",
    ),
    "drill": Subcommand(
        "copy a registry into a scratch one, compare, time and delete it",
        _drill_options,
        "--from http://a:8081",
        "magicbyte.cli.dr.main:run_drill",
    ),
}
