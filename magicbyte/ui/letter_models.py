"""The JSON of the page's answers about dead letters as types, from which openapi/ui.yaml is made."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from magicbyte.ui.models import Error


class LetterMark(TypedDict):
    """The place and time of a letter."""

    partition: int
    offset: int
    timestamp: Annotated[int | None, Field(description="In ms since the epoch")]


class LetterGroup(TypedDict):
    """Letters with a common property."""

    name: Annotated[str, Field(description="The fingerprint, topic, schema id or guid, or pipeline; `-` for none")]
    stage: Annotated[str | None, Field(description="The stage that failed, of the first letter that was counted")]
    reason: Annotated[str, Field(description="Its reason without numbers")]
    letters: Annotated[int, Field(description="Number of letters, without repeats")]
    repeated: Annotated[int, Field(description="Number of letters that were written again after their writer crashed")]
    replayed: int
    first: LetterMark
    last: LetterMark


class LetterOrigin(TypedDict):
    """The position of the record that became the letter."""

    topic: str
    partition: int
    offset: int


class ListedLetter(LetterMark):
    """A letter of the list."""

    group: str
    fingerprint: str
    stage: str | None
    reason: str
    origin: LetterOrigin | None
    pipeline: str | None
    schema: Annotated[str | None, Field(description="The id or guid of its schema")]
    masked: Annotated[bool, Field(description="Whether it has neither key nor value")]
    replays: Annotated[
        int, Field(description="Number of times that its record was replayed before it became this letter")
    ]
    replayed: Annotated[bool, Field(description="Whether it was replayed since")]


class LettersBegin(TypedDict):
    """The start of a count, with the number of offsets."""

    total: Annotated[int, Field(description="Number of offsets to search")]
    notesProblem: Annotated[str | None, Field(description="Why it is not known which letters were replayed")]


class LettersState(TypedDict):
    """The progress of the count."""

    scanned: Annotated[int, Field(description="Number of records that the count has looked at")]
    bytes: Annotated[int, Field(description="Approximate number of bytes of these records")]
    matched: Annotated[int, Field(description="Number of these records that are selected letters, with repeats")]
    unreadable: Annotated[int, Field(description="Number of records that could not be read within the limits")]
    groups: Annotated[list[LetterGroup], Field(description="The largest first")]
    groupsLeftOut: Annotated[int, Field(description="Number of groups that are not listed")]
    lettersLeftOut: Annotated[int, Field(description="Number of letters in groups beyond the first 1000")]


class LettersEnd(LettersState):
    """The end of the count, with its reason."""

    reason: Annotated[
        Literal["end", "records", "bytes", "time"],
        Field(description="`end`: nothing is left. Else the limit of `magicbyte.ui.scan.*`, or 200000 letters"),
    ]


class LetterLine(TypedDict, total=False):
    """A line; it has one of these members."""

    begin: LettersBegin
    letter: ListedLetter
    progress: LettersState
    end: LettersEnd
    error: Error


class LetterPart(TypedDict):
    """A key or value: some of its bytes, and how far they decode."""

    base64: Annotated[str, Field(description="Its bytes, or those around the place where decoding stops")]
    first: Annotated[int, Field(description="The first of these bytes")]
    bytes: Annotated[int, Field(description="Number of bytes of the whole key or value")]
    schemaId: Annotated[str | None, Field(description="The id or guid in its frame")]
    schemaType: Literal["AVRO", "JSON", "PROTOBUF"] | None
    schema: Annotated[str | None, Field(description="The writer's schema")]
    subject: Annotated[str | None, Field(description="A subject that has it; null if the sender may see none")]
    version: int | None
    decoded: Annotated[Any, Field(description="The data; null if it does not decode")]
    preview: NotRequired[Annotated[str, Field(description="The beginning of long JSON, instead of `decoded`")]]
    size: NotRequired[Annotated[int, Field(description="The bytes of that JSON")]]
    problem: Annotated[str | None, Field(description="Why it does not decode")]
    path: Annotated[str | None, Field(description="The field at which decoding stops")]
    byte: Annotated[int | None, Field(description="The byte at which decoding stops")]


class LetterHeader(TypedDict):
    """A header of the record, as text or in base64."""

    name: str
    value: NotRequired[str | None]
    base64: NotRequired[str]


class DescribedLetter(LetterMark):
    """A letter, as `magicbyte dead-letter show --output json` has it."""

    topic: str
    fingerprint: str
    failure: Annotated[dict[str, Any] | None, Field(description="What its headers say; null without any")]
    replays: int
    headers: list[LetterHeader]
    key: LetterPart | None
    value: LetterPart | None
    identity: Annotated[str, Field(description="Tells its record from others")]


class LetterReplayed(TypedDict):
    """The replays of a letter: their count, and the time and topic of the last one."""

    count: int
    time: Annotated[int, Field(description="The last time, in ms since the epoch")]
    topic: Annotated[str, Field(description="The topic that it was sent to")]


class ShownLetter(TypedDict):
    """A letter and its note."""

    letter: DescribedLetter
    replayed: LetterReplayed | None
    notesProblem: Annotated[str | None, Field(description="Why it is not known whether it was replayed")]
