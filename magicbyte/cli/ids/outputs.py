"""Output of counts: a table for people, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from magicbyte.cli.tables import aligned
from magicbyte.kit.plural import plural
from magicbyte.topic_ids.names import Named, UsedSchema, subject_of
from magicbyte.topic_ids.tally import MOST_FRAMES, Usage
from magicbyte.topic_ids.timed_position import TimedPosition

#: The most subjects to name in a row; the others are counted.
_SHOWN_SUBJECTS = 3
_HEADS = ("id", "type", "subject and version", "records", "share", "bytes", "first", "last")
#: The indexes of the columns with numbers.
_RIGHT = frozenset((0, 3, 4, 5))
CAVEAT = (
    "no record of this topic that was counted uses these versions; other topics, other contexts and copies elsewhere"
    " may"
)


def table(counts: Iterable[Named]) -> str:
    """A table for each topic."""
    return "\n".join("".join(f"{line}\n" for line in _lines(named)) for named in counts)


def _lines(named: Named) -> Iterator[str]:
    scan = named.scan
    tally = scan.tally
    part = "keys" if scan.selection.is_key else "values"
    yield f"{scan.topic}, {part}: {_headline(named)}"
    rows = [_row(_label(schema), schema.usage, tally.records) for schema in named.schemas]
    for label, usage in (("tombstones", tally.tombstones), ("not framed", tally.unframed)):
        if usage is not None:
            rows.append(_row(("-", "", label), usage, tally.records))
    if rows:
        yield from aligned([_HEADS, *rows], _RIGHT)
    if tally.more_frames:
        yield f"{tally.more_frames:,} more records name schemas beyond the first {MOST_FRAMES:,}"
    if named.unused is not None:
        yield from _unused(named)


def _headline(named: Named) -> str:
    scan = named.scan
    counted = f"{plural(scan.tally.records, 'record')} in {plural(len(scan.windows), 'partition')}"
    if scan.selection.sample is not None:
        counted = f"at least these, in a sample of {counted}"
    return counted if scan.is_complete else f"{counted}, not read to the end"


def _unused(named: Named) -> Iterator[str]:
    if not named.unused:
        yield f"all versions of {subject_of(named.scan)} and of the subjects above are used"
        return
    yield "unused: " + ", ".join(f"{version} (id {schema_id})" for version, schema_id in named.unused)
    yield f"  {CAVEAT}"


def _label(schema: UsedSchema) -> tuple[str, str, str]:
    name = str(schema.guid if schema.schema_id is None else schema.schema_id)
    if schema.is_unknown:
        return name, "", "not in the registry"
    if schema.versions is None or schema.info is None:
        return name, "", ""
    shown = [str(version) for version in schema.versions[:_SHOWN_SUBJECTS]]
    more = len(schema.versions) - len(shown)
    subjects = ", ".join(shown) or "no subject has it any more"
    return name, schema.info.schema.schema_type, f"{subjects} and {more} more" if more else subjects


def _row(label: tuple[str, str, str], usage: Usage, total: int) -> Sequence[str]:
    share = f"{usage.records / total:.1%}"
    return (*label, f"{usage.records:,}", share, f"{usage.size:,}", _place(usage.first), _place(usage.last))


def _place(place: TimedPosition) -> str:
    return f"{place.partition}:{place.offset} {place.time}".rstrip()


def as_json(counts: Iterable[Named]) -> str:
    """One JSON object with a member `topics`."""
    return json.dumps({"topics": [_topic(named) for named in counts]}, indent=2, ensure_ascii=False) + "\n"


def _topic(named: Named) -> dict[str, Any]:
    scan = named.scan
    tally = scan.tally
    value = {
        "topic": scan.topic,
        "part": "key" if scan.selection.is_key else "value",
        "complete": scan.is_complete,
        "sample": scan.selection.sample,
        "offsets": {str(partition): {"from": begin, "to": end} for partition, (begin, end) in scan.windows.items()},
        "records": tally.records,
        "schemas": [_schema(schema) for schema in named.schemas],
        "tombstones": None if tally.tombstones is None else tally.tombstones.to_json(),
        "notFramed": None if tally.unframed is None else tally.unframed.to_json(),
        "moreFrames": tally.more_frames,
    }
    if named.unused is not None:
        value["unused"] = [{**version.to_json(), "id": schema_id} for version, schema_id in named.unused]
    return value


def _schema(schema: UsedSchema) -> dict[str, Any]:
    return {
        "id": schema.schema_id,
        "guid": schema.guid,
        "known": None if schema.versions is None else not schema.is_unknown,
        "type": None if schema.info is None else schema.info.schema.schema_type,
        "versions": None if schema.versions is None else [version.to_json() for version in schema.versions],
        **schema.usage.to_json(),
    }


OUTPUTS = {"table": table, "json": as_json}
