"""`magicbyte dead-letter list`: letters counted by the reason of their failure, or by another common property."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator

from magicbyte.cli.dead_letter.options import letters_topic, since
from magicbyte.cli.tables import aligned
from magicbyte.dead_letters.conditions import condition
from magicbyte.dead_letters.groups import GROUPINGS, Group, group
from serdes.console.outcome import OK

#: Longest text of a reason in the table.
_LONGEST = 120
_NUMBERS = ("letters", "repeated", "replayed")


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Write the groups to stdout, the largest first."""
    fits = condition(options.where)
    topic = letters_topic(options)
    try:
        windows = topic.windows(since(options, parser))
        replayed = topic.states().keys()
        letters = (letter for letter in topic.letters(windows) if fits(letter))
        groups = group(letters, replayed, GROUPINGS[options.by])
    finally:
        topic.close()
    if options.output == "json":
        sys.stdout.write(json.dumps({"topic": topic.name, "groups": [group.to_json() for group in groups]}, indent=2))
        sys.stdout.write("\n")
    else:
        sys.stdout.write("".join(f"{line}\n" for line in _table(topic.name, options.by, groups)))
    return OK


def _table(topic: str, by: str, groups: list[Group]) -> Iterator[str]:
    total = sum(counts.letters for counts in groups)
    replayed = sum(counts.replayed for counts in groups)
    yield f"{topic}: {total:,} {'letter' if total == 1 else 'letters'}, {replayed:,} of them replayed"
    if not groups:
        return
    heads = ("fingerprint" if by == "reason" else by, *_NUMBERS, "first", "last", "stage", "reason")
    rows: list[tuple[str, ...]] = [heads]
    for counts in groups:
        marks = (f"{mark.partition}:{mark.offset} {mark.time}".rstrip() for mark in (counts.first, counts.last))
        numbers = (f"{number:,}" if (number := getattr(counts, name)) else "" for name in _NUMBERS)
        rows.append((counts.name, *numbers, *marks, counts.stage, counts.reason[:_LONGEST]))
    yield from aligned(rows, range(1, 1 + len(_NUMBERS)))
