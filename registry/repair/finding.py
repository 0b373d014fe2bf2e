"""A finding of a check of a log: what is wrong, where, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from magicbyte.kit.inert import inert_line
from registry.state.records import Key

#: The most offsets and keys of a finding that are shown.
_MOST_SHOWN = 10


class Severity(StrEnum):
    """The severity of a finding.

    An error loses schemas, brings deleted ones back, or stops a reader. A warning may do so later. A note does not.
    """

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A fault at one place.

    Attributes:
        code: The code of the check.
        sentence: What is wrong.
        severity: How bad it is; None for the severity of the check.
        remedy: What to do about this one; empty for the remedy of the check.
        offsets: The offsets of the records.
        keys: The bytes of the records' keys; None is a record without a key.
        context: The context; empty if the fault is not in one.
        subject: The subject in wire form.
        version: The number of the version.
        schema_id: The id.
        key: The logical key, for the repair.
    """

    code: str
    sentence: str
    severity: Severity | None = None
    remedy: str = ""
    offsets: tuple[int, ...] = ()
    keys: tuple[bytes | None, ...] = ()
    context: str = ""
    subject: str | None = None
    version: int | None = None
    schema_id: int | None = None
    key: Key | None = None

    def place(self) -> dict[str, Any]:
        """The place as JSON data, without parts that it lacks; keys are texts whose unprintable bytes are escaped."""
        parts = {
            "offsets": list(self.offsets[:_MOST_SHOWN]),
            "moreOffsets": max(0, len(self.offsets) - _MOST_SHOWN),
            "keys": [shown_bytes(key) for key in self.keys[:_MOST_SHOWN]],
            "context": self.context,
            "subject": self.subject,
            "version": self.version,
            "id": self.schema_id,
        }
        # The empty subject is a subject.
        return {name: value for name, value in parts.items() if value or (name == "subject" and value is not None)}


def shown_bytes(raw: bytes | None) -> str:
    """Bytes as a line of text, in which controls and what is not UTF-8 are escaped; cut after 300 bytes."""
    if raw is None:
        return "(no key)"
    text = inert_line(raw[:_MOST_BYTES].decode("utf-8", "backslashreplace"))
    return text if len(raw) <= _MOST_BYTES else f"{text}... ({len(raw)} bytes)"


_MOST_BYTES = 300
