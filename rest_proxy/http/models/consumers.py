"""Models of consumer instances, their records and offsets."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired

from msgspec import Struct
from pydantic import Field
from typing_extensions import TypedDict

from rest_proxy.exchange.bodies import Offset


class CreatedConsumer(TypedDict):
    """The instance's name, and the URL of its further operations."""

    instance_id: str
    base_uri: str


class Topics(TypedDict):
    """The topics; of a pattern those of which partitions came to this instance."""

    topics: list[str]


class Record(TypedDict):
    """A record."""

    topic: str
    key: Any
    value: Any
    partition: int
    offset: int
    error_code: NotRequired[
        Annotated[
            int,
            Field(
                description="40301 if the client may not read the schema of the key or value, which then is base64; "
                "40801 only if decode.errors is report."
            ),
        ]
    ]
    error: NotRequired[str]


class Offsets(Struct):
    """The offsets; partitions that were never committed are left out."""

    offsets: list[Offset]


class CommittedV1(TypedDict):
    """A committed offset, which in v1 is that of the last record."""

    topic: str
    partition: int
    consumed: int
    committed: int
