"""Models of brokers, topics and partitions, and of errors."""

from __future__ import annotations

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict


class Error(TypedDict):
    """An error."""

    error_code: int
    message: str


class Brokers(TypedDict):
    """The ids."""

    brokers: list[int]


class Replica(TypedDict):
    """A replica of a partition."""

    broker: int
    leader: bool
    in_sync: bool


class Partition(TypedDict):
    """The partition."""

    partition: int
    leader: Annotated[int, Field(description="-1 if there is none.")]
    replicas: list[Replica]


class Topic(TypedDict):
    """The topic."""

    name: str
    configs: dict[str, str | None]
    partitions: list[Partition]


class OffsetRange(TypedDict):
    """The offsets."""

    beginning_offset: int
    end_offset: int


class Health(TypedDict):
    """Whether the proxy or a broker answers."""

    status: str
    reason: NotRequired[str]
