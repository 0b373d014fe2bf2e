"""Requests for a scan of a topic, and a worker's part of it: some records, and the conditions they must fit."""

from __future__ import annotations

import re
from typing import Annotated

import msgspec
from msgspec import Meta

from magicbyte.ui.messages.filter_text import BadFilter, read_filter
from magicbyte.ui.messages.kinds import MESSAGE, problem_of
from magicbyte.ui.messages.request import BadRequest, Common, check_numbers

#: The most records of an answer.
MOST_RECORDS = 500
_LONGEST_FILTER = 2_000
_CURSOR = re.compile(r"\d{1,9}:\d{1,19}(?:,\d{1,9}:\d{1,19})*")
_ORDERS = ("newest", "oldest")
_KIND = "`message`, `int`, `long`, `short`, `float`, `double`, `uuid`, `text`, `json`, `hex`, `base64` or `schema:ID`"


class Reading(Common):
    """The kinds to read records as, and the filter that they must fit."""

    key_as: Annotated[str, Meta(description=f"What keys are read as: {_KIND}")] = MESSAGE
    value_as: Annotated[str, Meta(description="What values are read as, likewise")] = MESSAGE
    filter: Annotated[
        str, Meta(description="Words, and conditions such as `value.customer.id = 7`; all of them must hold")
    ] = ""
    whole: Annotated[bool, Meta(description="Whether long keys, values and headers are not cut")] = False

    def check(self) -> None:
        """As in the base class.

        Raises:
            BadRequest: A member has a value that makes no sense.
        """
        super().check()
        for name, kind in (("keyAs", self.key_as), ("valueAs", self.value_as)):
            if (problem := problem_of(kind)) is not None:
                raise BadRequest(f"{name}: {problem}")
        if len(self.filter) > _LONGEST_FILTER:
            raise BadRequest(f"filter has {len(self.filter)} characters; at most {_LONGEST_FILTER} are read")
        try:
            read_filter(self.filter)
        except BadFilter as error:
            raise BadRequest(f"filter: {error}") from None


class ScanRequest(Reading):
    """The records of a topic that fit a filter, merged by time."""

    partitions: Annotated[list[int] | None, Meta(description="Only these partitions; null for all")] = None
    order: Annotated[str, Meta(description="Which records come first", extra_json_schema={"enum": list(_ORDERS)})] = (
        "newest"
    )
    since: Annotated[int | None, Meta(description="The first time, in ms since the epoch")] = None
    until: Annotated[int | None, Meta(description="The end of the time, exclusive, in ms since the epoch")] = None
    offset: Annotated[
        int | None, Meta(description="The offset to begin at, in each partition; an offset outside means the nearest")
    ] = None
    cursor: Annotated[str | None, Meta(description="The cursor of an answer of the same order, to go on behind it")] = (
        None
    )
    limit: Annotated[
        int, Meta(description="The most records of the answer", extra_json_schema={"maximum": MOST_RECORDS})
    ] = 50

    def check(self) -> None:
        """As in the base class.

        Raises:
            BadRequest: A member has a value that makes no sense.
        """
        super().check()
        if not self.topic:
            raise BadRequest("topic is needed")
        if self.order not in _ORDERS:
            raise BadRequest(f"order must be newest or oldest, not {self.order[:40]!r}")
        if not 1 <= self.limit <= MOST_RECORDS:
            raise BadRequest(f"limit must be between 1 and {MOST_RECORDS}, not {self.limit}")
        check_numbers(since=self.since, until=self.until, offset=self.offset)
        if self.cursor is not None and not _CURSOR.fullmatch(self.cursor):
            raise BadRequest("cursor must be that of an answer, such as 0:42,1:17")

    @property
    def is_newest_first(self) -> bool:
        """Whether the newest records come first."""
        return self.order == "newest"


class ScannedRecord(msgspec.Struct, array_like=True, gc=False):
    """A record as the REST proxy sends it; bytes are base64.

    Attributes:
        partition: The partition.
        offset: The offset.
        timestamp: Its time in ms since the epoch; None if the proxy does not tell.
        key: The key; None for none.
        value: The value; None for a tombstone.
        headers: The names and values of its headers.
    """

    partition: int
    offset: int
    timestamp: int | None
    key: str | None
    value: str | None
    headers: list[tuple[str, str | None]] = []

    @property
    def size(self) -> int:
        """About how many bytes it holds."""
        headers = sum(len(name) + len(value or "") for name, value in self.headers)
        return len(self.key or "") + len(self.value or "") + headers


class SelectRequest(Reading):
    """Some records, of which a worker selects those that fit."""

    records: list[ScannedRecord] = msgspec.field(default_factory=list)
    most: int = 0


class Selected(msgspec.Struct, gc=False):
    """The records that a worker has selected.

    Attributes:
        seen: How many records it has looked at, from the first one on.
        records: The JSON of those that fit.
    """

    seen: int
    records: list[msgspec.Raw]
