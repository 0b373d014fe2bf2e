"""Declarations of the routes whose rate is a goal, for the description: their handlers read the bare request."""

from __future__ import annotations

from magicbyte.http.routing.request import Request
from magicbyte.http.routing.response import Json
from rest_proxy.http import models
from rest_proxy.http.parameters.bodies import ProduceBody
from rest_proxy.http.parameters.paths import GroupName, InstanceName, PartitionNumber, TopicName
from rest_proxy.http.parameters.queries import (
    Acks,
    LogicalTypes,
    MaxBytes,
    ProduceTimeout,
    ReadTimeout,
    ReadToken,
    Unions,
)


async def produce_to_topic(
    request: Request,
    *,
    topic: TopicName,
    body: ProduceBody,
    acks: Acks = None,
    timeout_ms: ProduceTimeout = None,
    unions: Unions = None,
    logical: LogicalTypes = None,
) -> Json[models.ProduceResponse]:
    """Produce records, each to the partition that it names or its key leads to."""
    raise NotImplementedError


async def produce_to_partition(
    request: Request,
    *,
    topic: TopicName,
    partition: PartitionNumber,
    body: ProduceBody,
    acks: Acks = None,
    timeout_ms: ProduceTimeout = None,
    unions: Unions = None,
    logical: LogicalTypes = None,
) -> Json[models.ProduceResponse]:
    """Produce records to a partition; a record that names another goes there."""
    raise NotImplementedError


async def records(
    request: Request,
    *,
    group: GroupName,
    instance: InstanceName,
    timeout_ms: ReadTimeout = None,
    max_bytes: MaxBytes = None,
    token: ReadToken = None,
) -> Json[models.Records]:
    """The next records.

    Returns as soon as there are some, unless fetch.min.bytes says otherwise.
    """
    raise NotImplementedError
