"""Declarations of the routes whose rate is a goal, for the description: their handlers read the bare request."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends
from starlette.responses import Response

from magicbyte.http.routing.described_body import DescribedBody
from magicbyte.http.routing.response import Json
from rest_proxy.v3 import models
from rest_proxy.v3.call import ClusterCall
from rest_proxy.v3.parameters.paths import PartitionNumber, TopicName
from rest_proxy.v3.parameters.records import (
    Acks,
    Cursor,
    DecodeErrors,
    FirstOffset,
    FirstTime,
    KeyType,
    LogicalTypes,
    MaxBytes,
    MaxRecords,
    MaxWait,
    OutOfRange,
    ProduceTimeout,
    ReadIsolation,
    Unions,
    ValueType,
)


async def produce_stream(
    call: ClusterCall,
    *,
    topic: TopicName,
    body: Annotated[None, Depends(DescribedBody(models.ProduceRecord))],
    acks: Acks = None,
    unions: Unions = None,
    logical: LogicalTypes = None,
) -> Response:
    """Produce a record, or a stream of records.

    The body is JSON objects one after another, with or without whitespace between them. The answer is a report for
    each, in their order, separated by CRLF. With chunked bodies both stay open: reports come while records are sent.
    The status is 200 whatever becomes of the records; each report has an `error_code`. The cluster's id is not
    checked.
    """
    raise NotImplementedError


async def produce_batch(
    call: ClusterCall,
    *,
    topic: TopicName,
    body: Annotated[None, Depends(DescribedBody(models.ProduceBatch))],
    acks: Acks = None,
    unions: Unions = None,
    logical: LogicalTypes = None,
    timeout_ms: ProduceTimeout = None,
) -> Response:
    """Produce some records, each of which succeeds or fails by itself.

    The cluster's id is not checked.
    """
    raise NotImplementedError


async def read_partition(  # noqa: PLR0913  each is a parameter of its own
    call: ClusterCall,
    *,
    topic: TopicName,
    partition: PartitionNumber,
    offset: FirstOffset = None,
    timestamp: FirstTime = None,
    max_records: MaxRecords = 500,
    max_bytes: MaxBytes = 1 << 20,
    max_wait_ms: MaxWait = 0,
    isolation: ReadIsolation = None,
    key_type: KeyType = None,
    value_type: ValueType = None,
    decode_errors: DecodeErrors = None,
    out_of_range: OutOfRange = None,
) -> Json[models.KafkaRecordList]:
    """Records of a partition from an offset or a time.

    `next_offset` is where the next page begins, also if this one is empty. An offset outside the log is answered
    with 416, unless `out_of_range` says where to continue.
    """
    raise NotImplementedError


async def read_topic(  # noqa: PLR0913  each is a parameter of its own
    call: ClusterCall,
    *,
    topic: TopicName,
    cursor: Cursor = None,
    offset: FirstOffset = None,
    timestamp: FirstTime = None,
    max_records: MaxRecords = 500,
    max_bytes: MaxBytes = 1 << 20,
    max_wait_ms: MaxWait = 0,
    isolation: ReadIsolation = None,
    key_type: KeyType = None,
    value_type: ValueType = None,
    decode_errors: DecodeErrors = None,
    out_of_range: OutOfRange = None,
) -> Json[models.KafkaRecordList]:
    """Records of all partitions of a topic.

    They are in order within a partition. The `cursor` of an answer goes on behind it.
    """
    raise NotImplementedError
