"""The JSON of the page's answers as types, from which openapi/ui.yaml is made."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict


class Error(TypedDict):
    """An error."""

    error_code: int
    message: str


class PageConfig(TypedDict):
    """The configuration."""

    name: Annotated[str, Field(description="`magicbyte.ui.name`")]
    color: Annotated[str, Field(description="`magicbyte.ui.color`, such as `#ae231c`")]
    readOnly: Annotated[bool, Field(description="`magicbyte.ui.read.only`")]
    restAvailable: Annotated[bool, Field(description="Whether there is a REST proxy at `/ui/rest/`")]
    pipelinesConfigured: Annotated[bool, Field(description="Whether `magicbyte.ui.pipelines` names metrics ports")]
    accessRules: Annotated[bool, Field(description="Whether lists may leave out what the user may not see")]
    registryBase: Annotated[str, Field(description="The registry's address relative to `/ui/`")]
    version: Annotated[str, Field(description="The version of the server")]
    features: Annotated[list[str], Field(description="`together`: the page sends GETs by `/ui/together`")]


class TogetherLine(TypedDict):
    """The answer to a GET."""

    index: Annotated[int, Field(description="The place of its path in the request, from 0")]
    status: Annotated[int, Field(description="The status; 0 if the registry did not answer")]
    body: Annotated[str, Field(description="The body")]


class Remark(TypedDict):
    """A remark on a part of a value."""

    path: Annotated[str, Field(description="The part of the value, as `$.key[index]`")]
    kind: Annotated[
        Literal["violation", "double-key", "unknown-field", "skipped-field", "default", "not-examined"],
        Field(
            description="`violation`: the schema refuses the value. `double-key`: an object or map has a key more than "
            "once. `unknown-field`: the message has a field, or a value of an enum, that the schema does not have. "
            "`skipped-field`: only the writer's schema has the field. `default`: the message has no value there, and "
            "the default is shown. `not-examined`: the message was not searched for remarks, and the text says why."
        ),
    ]
    text: str


class Decoded(TypedDict, total=False):
    """A value with its schema, or an error."""

    value: Annotated[Any, Field(description="The value; null for a tombstone")]
    remarks: Annotated[
        list[Remark],
        Field(max_length=100, description="What the value does not show, the gravest kinds first; at most 100"),
    ]
    remarksLeftOut: Annotated[int, Field(description="Number of remarks that are not listed")]
    schemaId: int
    guid: str
    subject: Annotated[
        str | None, Field(description="The subject that holds the schema; null if the sender may see none")
    ]
    version: int | None
    type: Literal["AVRO", "JSON", "PROTOBUF"]
    name: Annotated[str | None, Field(description="The full name of the record or message")]
    indexes: Annotated[list[int], Field(description="The indexes of the Protobuf message")]
    bytes: Annotated[dict[str, str], Field(description="The parts of the frame in hexadecimal")]
    preview: Annotated[str, Field(description="The beginning of the JSON text of a long value, instead of `value`")]
    size: Annotated[int, Field(description="The bytes of that text")]
    error: str
    reason: Annotated[str, Field(description="The kind of error in one word")]
    at: Annotated[int | None, Field(description="The byte at fault")]


class DecodedMessages(TypedDict):
    """One item for each message, in order."""

    data: list[Decoded]


class EncodedMessages(TypedDict):
    """One item for each message, in order."""

    data: list[dict[str, Any]]


class RecordHeader(TypedDict):
    """A header; its value is base64."""

    name: str
    value: str | None


class DecodedParts(TypedDict):
    """The decoded key and value."""

    key: Decoded
    value: Decoded


class FoundRecord(TypedDict):
    """A record that fits."""

    partition: int
    offset: int
    timestamp: Annotated[int | None, Field(description="In ms since the epoch")]
    key: Annotated[str | None, Field(description="The key's bytes in base64, at most 4096 if the record is cut")]
    value: Annotated[str | None, Field(description="The value's bytes, likewise")]
    keySize: Annotated[int | None, Field(description="Number of bytes of the key")]
    valueSize: Annotated[int | None, Field(description="Number of bytes of the value")]
    headers: list[RecordHeader]
    cut: Annotated[bool, Field(description="Whether bytes or headers are missing; `whole` returns them")]
    decoded: DecodedParts


class ScanBegin(TypedDict):
    """The start of a search, with the offsets to search by partition."""

    partitions: Annotated[
        dict[str, list[int]], Field(description="By partition: the first offset, and the offset behind the last record")
    ]
    total: Annotated[int, Field(description="Number of offsets to search")]


class ScanState(TypedDict):
    """The progress of the search."""

    scanned: Annotated[int, Field(description="Number of records that the search has looked at")]
    bytes: Annotated[int, Field(description="Approximate number of bytes of these records")]
    matched: Annotated[int, Field(description="Number of these records that fit")]
    cursor: Annotated[str, Field(description="The position by partition, to go on from")]


class ScanEnd(ScanState):
    """The end of the search, with its reason."""

    reason: Annotated[
        Literal["end", "limit", "answer", "records", "bytes", "time"],
        Field(
            description="`end`: nothing is left. `limit`: enough records fit. `answer`: they have as many bytes as "
            "`magicbyte.ui.messages.max.bytes` allows. `records`, `bytes`, `time`: a limit of `magicbyte.ui.scan.*`"
        ),
    ]


class ScanLine(TypedDict, total=False):
    """A line; it has one of these members. After an `error`, `cursor` says where to go on."""

    begin: ScanBegin
    record: FoundRecord
    progress: ScanState
    end: ScanEnd
    error: Error
    cursor: str


AnyObject = dict[str, Any]
