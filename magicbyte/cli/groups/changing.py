"""`magicbyte groups reset` and `magicbyte groups delete`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence

from magicbyte.cli.admin_options import confirm, open_admin, tell_deleted
from magicbyte.cli.records.consume import milliseconds
from magicbyte.cli.tables import aligned
from magicbyte.kafka_admin import groups
from magicbyte.kafka_admin.reset import Reset, execute, plan
from magicbyte.kit.kafka.offset_reset import Target
from serdes.console.outcome import OK, tell

_PROGRAM = "magicbyte groups"
_HEADS = ("topic", "partition", "committed", "new", "begin", "end", "lag")


def run_reset(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Write the new offsets to stdout, and commit them with --execute."""
    at = options.to_timestamp
    target = Target(
        is_earliest=options.to_earliest,
        offset=options.to_offset,
        timestamp=None if at is None else milliseconds(at, "--to-timestamp", parser),
        shift=options.shift_by,
    )
    selection = None if options.all_topics else _selection(options.topics)
    admin = open_admin(options)
    admin.topic_names()
    resets, is_known = plan(admin, options.group, selection, target)
    for place, reset in ((reset.place, reset.offsets) for reset in resets):
        if reset.new != reset.wanted:
            edge = (
                f"before the first record; {reset.begin}"
                if reset.wanted < reset.begin
                else f"after the end; {reset.end}"
            )
            tell(_PROGRAM, f"{place.topic} {place.partition}: offset {reset.wanted} is {edge} is used")
    if options.execute:
        execute(admin, options.group, resets)
    if options.output == "json":
        sys.stdout.write(json.dumps(_json(options.group, resets, executed=options.execute), indent=2) + "\n")
    else:
        lines = _table(options.group, resets, executed=options.execute)
        sys.stdout.write("".join(f"{line}\n" for line in lines))
    if not options.execute:
        sys.stdout.flush()
        new = "" if is_known else f"; group {options.group} does not exist and would be created"
        tell(_PROGRAM, f"nothing was changed: --execute commits these offsets{new}")
    return OK


def run_delete(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Delete groups, and write each to stdout; none is deleted if one of them is missing or has members."""
    del parser
    admin = open_admin(options)
    admin.topic_names()
    names = list(dict.fromkeys(options.groups))
    for name in names:
        groups.existing(admin, name).check_empty()
    confirm(f"Delete {', '.join(names)} with all committed offsets?", is_confirmed=options.yes)
    errors = groups.delete(admin, names)
    tell_deleted("group", errors)
    return OK


def _selection(topics: Sequence[tuple[str, frozenset[int]]]) -> dict[str, frozenset[int]]:
    """Topic -> its partitions; an empty set selects all."""
    selection: dict[str, frozenset[int]] = {}
    for topic, partitions in topics:
        before = selection.get(topic)
        is_whole = not partitions or (before is not None and not before)
        selection[topic] = frozenset() if is_whole else partitions | (before or frozenset())
    return selection


def _table(group: str, resets: Sequence[Reset], *, executed: bool) -> Iterator[str]:
    changed = sum(reset.offsets.new != reset.offsets.committed for reset in resets)
    verb = "changed" if executed else "would change"
    yield f"{group}: {changed} of {len(resets)} offsets {verb}"
    rows = [
        (
            place.topic,
            str(place.partition),
            "-" if reset.committed is None else f"{reset.committed:,}",
            *(f"{offset:,}" for offset in (reset.new, reset.begin, reset.end, reset.end - reset.new)),
        )
        for place, reset in ((reset.place, reset.offsets) for reset in resets)
    ]
    if rows:
        yield from aligned([_HEADS, *rows], range(1, len(_HEADS)))


def _json(group: str, resets: Sequence[Reset], *, executed: bool) -> dict[str, object]:
    return {
        "group": group,
        "executed": executed,
        "partitions": [
            {
                **place._asdict(),
                "committed": reset.committed,
                "new": reset.new,
                "begin": reset.begin,
                "end": reset.end,
                "lag": reset.end - reset.new,
            }
            for place, reset in ((reset.place, reset.offsets) for reset in resets)
        ],
    }
