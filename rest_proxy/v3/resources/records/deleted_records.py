"""Deleting the records of partitions before an offset; ours, beyond the reference."""

from __future__ import annotations

from starlette.responses import Response

from magicbyte.http.errors import MALFORMED_BODY
from magicbyte.http.routing.response import Json
from magicbyte.kit.errors import ApiError
from rest_proxy.admin import offsets, topics
from rest_proxy.admin.client import PartitionId
from rest_proxy.errors import KAFKA_BAD_REQUEST, PARTITION_NOT_FOUND
from rest_proxy.v3 import models
from rest_proxy.v3.call import ClusterCall
from rest_proxy.v3.envelopes import answer, item
from rest_proxy.v3.parameters.bodies import BeforeOffsetBody, BeforeOffsetsBody
from rest_proxy.v3.parameters.paths import PartitionPlace, TopicFirst

#: The offset that stands for all records.
_ALL = -1
_LATEST = "latest"


async def delete(
    call: ClusterCall, *, place: PartitionPlace, body: BeforeOffsetBody
) -> Json[models.KafkaPartitionWithOffsets]:
    """Delete the records of one partition before an offset."""
    before = _offset(body.before_offset, "before_offset")
    admin = await call.admin()
    if place.partition >= len((await topics.topic(admin, place.topic)).partitions) or place.partition < 0:
        raise PARTITION_NOT_FOUND()
    earliest = (await offsets.delete_records(admin, {place: before}))[place]
    if isinstance(earliest, ApiError):
        raise earliest
    links = call.links
    fields = {
        "cluster_id": call.cluster_id,
        "topic_name": place.topic,
        "partition_id": place.partition,
        "earliest_offset": earliest,
    }
    url = links.url("topics", place.topic, "partitions", place.partition, "offset")
    crn = links.crn(("topic", place.topic), ("partition", place.partition), ("offset_type", "earliest"))
    return answer(item("KafkaPartitionWithOffsets", url, crn, fields))


async def delete_of_partitions(call: ClusterCall, *, topic: TopicFirst, body: BeforeOffsetsBody) -> Response:
    """Delete records of several partitions; the answer has the outcome for each."""
    before: dict[PartitionId, int] = {}
    for index, entry in enumerate(body.data):
        place = PartitionId(topic, entry.partition_id)
        if place in before:
            raise KAFKA_BAD_REQUEST(detail=f"data[{index}].partition_id: {place.partition} is given more than once")
        before[place] = _offset(entry.before_offset, f"data[{index}].before_offset")
    admin = await call.admin()
    await topics.topic(admin, topic)
    answers = await offsets.delete_records(admin, before) if before else {}
    successes = [
        {"partition_id": place.partition, "earliest_offset": answers[place]}
        for place in before
        if not isinstance(answers[place], ApiError)
    ]
    failures = [
        {"partition_id": place.partition, **error.body()}
        for place in before
        if isinstance(error := answers[place], ApiError)
    ]
    return answer({"successes": successes, "failures": failures}, 207)


def _offset(before: int | str, member: str) -> int:
    """The offset of a body.

    Raises:
        ApiError: MALFORMED_BODY: it is neither a number nor `latest`; KAFKA_BAD_REQUEST: it is negative.
    """
    if before == _LATEST:
        return _ALL
    text = str(before)
    if not (text.removeprefix("-").isascii() and text.removeprefix("-").isdigit()) or len(text) > 20:
        raise MALFORMED_BODY(detail=f'{member}: {text[:40]} is neither an offset nor "{_LATEST}"')
    if int(text) < 0:
        raise KAFKA_BAD_REQUEST(detail=f"{member}: {text} is below 0")
    return int(text)
