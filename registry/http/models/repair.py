"""Models of repairs of the log."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

Code = Literal["KEY_FORMS", "ORPHAN_TOMBSTONE", "MARK_LOW", "DELETED_LIVE", "UNREADABLE", "FOREIGN_KEYS"]


class RepairRequest(TypedDict):
    """The faults to repair."""

    codes: NotRequired[
        Annotated[
            list[Code] | None,
            Field(description="The codes of faults; without it, all but UNREADABLE and FOREIGN_KEYS."),
        ]
    ]


class RepairRecord(TypedDict):
    """A record that a repair appends."""

    code: Annotated[Code, Field(description="The fault that it repairs.")]
    offsets: Annotated[list[int], Field(description="The records that are at fault.")]
    key: Annotated[str, Field(description="Its key; bytes that are no text are escaped.")]
    tombstone: Annotated[bool, Field(description="Whether it has no value.")]


class RepairReport(TypedDict):
    """The records that a repair has appended, or would append."""

    records: Annotated[list[RepairRecord], Field(description="The records, in order.")]
    left: Annotated[int, Field(description="Number of faults that are left for another request.")]
