"""`magicbyte groups list` and `magicbyte groups describe`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from magicbyte.cli.admin_options import open_admin
from magicbyte.cli.tables import aligned
from magicbyte.kafka_admin.groups import Group, Member, Progress, all_groups, existing, progress
from magicbyte.kit.inert import escape_controls
from magicbyte.kit.plural import plural
from serdes.console.outcome import NOT_DELIVERED, OK, Ended

_HEADS = ("topic", "partition", "committed", "end", "lag", "member", "client", "host")
#: The indexes of the columns with numbers.
_RIGHT = frozenset((1, 2, 3, 4))


def run_list(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Write the groups to stdout."""
    del parser
    listed, errors = all_groups(open_admin(options))
    if options.output == "json":
        _write_json([{"group": group.id, "state": group.state, "type": group.type} for group in listed])
    elif listed:
        rows = [(group.id, group.state, group.type or "") for group in listed]
        _write_lines(aligned([("group", "state", "type"), *rows]))
    if errors:
        raise Ended(NOT_DELIVERED, f"groups are missing from the list: {errors[0]}")
    return OK


def run_describe(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Write groups with their progress to stdout."""
    del parser
    admin = open_admin(options)
    admin.topic_names()
    described = [existing(admin, name) for name in dict.fromkeys(options.groups)]
    found = [(group, progress(admin, group)) for group in described]
    if options.output == "json":
        _write_json([_json(group, places) for group, places in found])
    else:
        for number, one in enumerate(found):
            _write_lines(("", *_table(*one)) if number else _table(*one))
    return OK


def _table(group: Group, places: Sequence[Progress]) -> Iterator[str]:
    members = plural(len(group.members), "member") if group.members else "no members"
    parts = [group.state, members]
    if places:
        parts.append(f"lag {_lag(places):,}")
    kind = " ".join(filter(None, (group.type, group.assignor)))
    yield f"{group.id}: {', '.join((*parts, kind) if kind else parts)}"
    rows = [
        (one.place.topic, str(one.place.partition), *map(_number, (one.committed, one.end, one.lag)), *_who(one.member))
        for one in places
    ]
    rows += [("-", "-", "-", "-", "-", *_who(member)) for member in group.members if not member.places]
    if rows:
        yield from aligned([_HEADS, *rows], _RIGHT)


def _lag(places: Sequence[Progress]) -> int:
    return sum(one.lag or 0 for one in places)


def _number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _who(member: Member | None) -> tuple[str, str, str]:
    return ("", "", "") if member is None else (member.id, member.client_id, member.host)


def _json(group: Group, places: Sequence[Progress]) -> dict[str, Any]:
    return {
        "group": group.id,
        "state": group.state,
        "type": group.type,
        "assignor": group.assignor or None,
        "coordinator": group.coordinator,
        "lag": _lag(places),
        "members": [
            {
                "member": member.id,
                "client": member.client_id,
                "host": member.host,
                "instance": member.instance_id,
                "partitions": [place._asdict() for place in member.places],
            }
            for member in group.members
        ],
        "partitions": [
            {
                **one.place._asdict(),
                "committed": one.committed,
                "end": one.end,
                "lag": one.lag,
                "member": None if one.member is None else one.member.id,
            }
            for one in places
        ],
    }


def _write_lines(lines: Iterable[str]) -> None:
    # Any client chooses the names of its groups and members.
    sys.stdout.write("".join(f"{escape_controls(line)}\n" for line in lines))


def _write_json(groups: Sequence[Any]) -> None:
    sys.stdout.write(json.dumps({"groups": groups}, indent=2) + "\n")
