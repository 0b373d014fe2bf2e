"""The bodies of requests for dead letters, and the messages between the server and a worker about them."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from magicbyte.ui.messages.request import BadRequest, Common, check_numbers
from magicbyte.ui.messages.scan_request import ScannedRecord

#: The most letters that an answer lists.
MOST_LETTERS = 2_000
#: The longest name of a group.
LONGEST_GROUP = 1_000
_LONGEST_CONDITION = 2_000
GROUPINGS = ("reason", "topic", "schema-id", "pipeline")


class Choosing(Common):
    """The choice of letters, and their grouping."""

    by: Annotated[str, Meta(description="What a group has in common", extra_json_schema={"enum": list(GROUPINGS)})] = (
        "reason"
    )
    where: Annotated[
        str | None,
        Meta(description="A condition in SQLite's dialect on a letter's columns, as of `magicbyte dead-letter`"),
    ] = None
    group: Annotated[str | None, Meta(description="Only letters of this group; null for all")] = None

    def check(self) -> None:
        """As in the base class.

        Raises:
            BadRequest: A member has a value that makes no sense.
        """
        super().check()
        if self.by not in GROUPINGS:
            raise BadRequest(f"by must be one of {', '.join(GROUPINGS)}, not {self.by[:40]!r}")
        for name, text, longest in (("where", self.where, _LONGEST_CONDITION), ("group", self.group, LONGEST_GROUP)):
            if text is not None and len(text) > longest:
                raise BadRequest(f"{name} has {len(text)} characters; at most {longest} are read")
        if self.where is not None and "\0" in self.where:
            raise BadRequest("where has a null character")


class LettersRequest(Choosing):
    """Letters of a topic, counted by groups; the newest of them are listed."""

    since: Annotated[int | None, Meta(description="The first time of letters, in ms since the epoch")] = None
    until: Annotated[int | None, Meta(description="The end of the time, exclusive, in ms since the epoch")] = None
    replayed: Annotated[
        bool | None, Meta(description="Whether only letters that were replayed, or that were not; null for both")
    ] = None
    letters: Annotated[
        int,
        Meta(description="Maximum number of letters to list, the newest first", extra_json_schema={"maximum": 2000}),
    ] = 0

    def check(self) -> None:
        """As in the base class.

        Raises:
            BadRequest: A member has a value that makes no sense.
        """
        super().check()
        if not self.topic:
            raise BadRequest("topic is needed")
        if not 0 <= self.letters <= MOST_LETTERS:
            raise BadRequest(f"letters must be between 0 and {MOST_LETTERS}, not {self.letters}")
        check_numbers(since=self.since, until=self.until)


class LetterRequest(Common):
    """One letter."""

    partition: Annotated[int, Meta(description="Its partition")] = 0
    offset: Annotated[int, Meta(description="Its offset")] = 0
    whole: Annotated[bool, Meta(description="Whether all of its bytes and of its data are returned")] = False

    def check(self) -> None:
        """As in the base class.

        Raises:
            BadRequest: A member has a value that makes no sense.
        """
        super().check()
        if not self.topic:
            raise BadRequest("topic is needed")
        check_numbers(partition=self.partition, offset=self.offset)


class SortRequest(Choosing):
    """Some records, of which a worker returns the letters that are meant."""

    records: list[ScannedRecord] = msgspec.field(default_factory=list)


class ShowRequest(LetterRequest):
    """A record, which a worker describes as a letter."""

    records: list[ScannedRecord] = msgspec.field(default_factory=list)


class LetterKind(msgspec.Struct, array_like=True, gc=False, frozen=True):
    """A kind of letters: those that failed for the same reason.

    Attributes:
        fingerprint: The fingerprint.
        stage: The stage that failed; empty if that is not known.
        reason: The reason without numbers.
    """

    fingerprint: str
    stage: str
    reason: str


class SortedLetter(msgspec.Struct, array_like=True, gc=False):
    """A letter, as it is counted and listed.

    Attributes:
        partition, offset, timestamp: Its place and time.
        kind: The index of its kind.
        group: The name of its group.
        identity: A number for its record; see `key_number`.
        attempt: A number for its record and the pipeline that gave it up.
        origin: The record's topic, partition and offset; None if that is not known.
        pipeline: What gave it up.
        schema: The id or guid of its schema.
        masked: Whether it has neither key nor value.
        replays: How often its record was replayed before.
    """

    partition: int
    offset: int
    timestamp: int | None
    kind: int
    group: str
    identity: int
    attempt: int
    origin: tuple[str, int, int] | None
    pipeline: str | None
    schema: str | None
    masked: bool
    replays: int


class SortedLetters(msgspec.Struct, gc=False):
    """The letters that are meant, and their kinds."""

    kinds: list[LetterKind]
    letters: list[SortedLetter]
