"""The messages of a verdict, in the words and the order of Confluent's Schema Registry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from compat.level import Level
from compat.report.finding import Finding
from compat.schema import ParsedSchema

#: The longest text of an earlier version in a message, in UTF-16 code units, as Java counts.
MAX_TEXT_IN_MESSAGE = 10 * 1024


def reserved_field_messages(new: ParsedSchema, reserved: str | None, previous_reserved: str | None) -> list[str]:
    """The messages for violations of the reserved fields in a new schema.

    Args:
        new: The schema.
        reserved: Its metadata property `confluent:reserved`: field names separated by commas.
        previous_reserved: The same property of the previous version.
    """
    names = _names(reserved)
    removed = [name for name in _names(previous_reserved) if name not in names]
    fields = set(new.top_level_fields) if names else set()
    return [
        *(
            f"The new schema has reserved field {name} removed from its metadata"
            " which is present in the old schema's metadata."
            for name in removed
        ),
        *(
            f"The new schema has field that conflicts with the reserved field {name}."
            for name in names
            if name in fields
        ),
    ]


def version_messages(findings: Sequence[Finding], version: int | None, level: Level) -> Iterator[str]:
    """The messages for the breaks against one earlier version, followed by its number and its text."""
    yield from (finding.message for finding in findings)
    # With two directions, the reference appends the earlier version only to the messages of the last direction.
    last = [finding for finding in findings if finding.direction is level.directions[-1]]
    if not last:
        return
    if version is not None:
        yield f"{{oldSchemaVersion: {version}}}"
    old = last[0].old
    if old is not None:
        yield _old_schema(old.canonical)


def _old_schema(text: str) -> str:
    units = text.encode("utf-16-le")
    if len(units) <= 2 * MAX_TEXT_IN_MESSAGE:
        return f"{{oldSchema: '{text}'}}"
    cut = units[: 2 * MAX_TEXT_IN_MESSAGE].decode("utf-16-le", "ignore")
    return f"{{oldSchema: <truncated to {MAX_TEXT_IN_MESSAGE} characters> '{cut}'}}"


def _names(listed: str | None) -> list[str]:
    return [name for name in dict.fromkeys(map(str.strip, (listed or "").split(","))) if name]
