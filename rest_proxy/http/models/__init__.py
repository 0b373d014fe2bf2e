"""The JSON of v2 and v1 as types, which only describe bodies: openapi/rest-proxy-v2.yaml is made of them."""

from typing import Annotated, Any

from pydantic import Field

from rest_proxy.http.models.consumers import (
    CommittedV1,
    CreatedConsumer,
    Offsets,
    Record,
    Topics,
)
from rest_proxy.http.models.produced import BinaryProduceRequest, ProduceRequest, ProduceResponse
from rest_proxy.http.models.topics import Brokers, Error, Health, OffsetRange, Partition, Topic

__all__ = [
    "BinaryProduceRequest",
    "Brokers",
    "CommittedV1",
    "CreatedConsumer",
    "Error",
    "Health",
    "OffsetRange",
    "Offsets",
    "Partition",
    "ProduceRequest",
    "ProduceResponse",
    "Record",
    "Topic",
    "Topics",
]

AnyObject = dict[str, Any]
Empty = Annotated[dict[str, Any], Field(description="An empty object.", max_length=0)]
EmptyList = Annotated[list[Any], Field(max_length=0)]
Names = Annotated[list[str], Field(description="The names.")]
Partitions = Annotated[list[Partition], Field(description="The partitions by number.")]
Records = Annotated[list[Record], Field(description="The records.")]
CommitsV1 = list[CommittedV1]
