"""Altering the committed offsets of a group that has no members; ours, beyond the reference."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import Depends

from magicbyte.http.routing.response import Json
from magicbyte.kit.errors import ApiError
from magicbyte.kit.kafka.offset_reset import NothingCommitted, OffsetReset, Target, reset_of
from rest_proxy.access.decisions import require_topics
from rest_proxy.admin import group_offsets, groups, offsets, topics
from rest_proxy.admin.client import AdminClient, PartitionId
from rest_proxy.admin.group_offsets import Commit
from rest_proxy.admin.offsets import OffsetAt
from rest_proxy.errors import BAD_REQUEST, CONFLICT, PARTITION_NOT_FOUND
from rest_proxy.exchange.parameters import milliseconds_of
from rest_proxy.v3 import models
from rest_proxy.v3.call import Admin, ClusterCall
from rest_proxy.v3.envelopes import answer, collection
from rest_proxy.v3.models.requests import OffsetTarget, OffsetTargets
from rest_proxy.v3.parameters.bodies import OffsetTargetsBody
from rest_proxy.v3.parameters.paths import GroupId
from rest_proxy.v3.resources.consumer_groups.lags import Lag, in_order, item_of

#: The members of an entry that select the offset; each entry has exactly one.
_TARGETS = ("offset", "timestamp", "to", "shift_by")
_TO = ("earliest", "latest")


async def _checked_targets(call: ClusterCall, body: OffsetTargetsBody) -> OffsetTargets:
    for index, target in enumerate(body.data):
        _check(target, f"data[{index}]")
    require_topics(call.request, "READ", *(str(target.topic_name) for target in body.data))
    return body


#: The offsets in the body, of topics that the sender may read; checked before the cluster is looked up.
_Targets = Annotated[OffsetTargets, Depends(_checked_targets)]


async def alter(call: ClusterCall, *, body: _Targets, admin: Admin, name: GroupId) -> Json[models.KafkaConsumerLagList]:
    """Commit offsets of a group that has no members, or only return them.

    An offset outside a partition's log is moved to its beginning or end. Each item also has the offset that was
    committed before, the requested one, and how many offsets are skipped or repeated.
    """
    group = await groups.group(admin, name)
    if group is not None and group.members:
        raise CONFLICT(detail=f"Consumer Group {name} has members; alter its offsets when it has none.")
    targets = await _targets(admin, body.data)
    resets = await _resets(admin, name, targets)
    if not body.validate_only and resets:
        commits = {place: Commit(reset.new, str(targets[place].metadata or "")) for place, reset in resets.items()}
        for error in (await group_offsets.commit(admin, name, commits)).values():
            raise error
    lags = in_order([Lag(place, None, reset.new, reset.end) for place, reset in resets.items()])
    url = call.links.url("consumer-groups", name, "lags")
    items = [{**item_of(call, name, lag), **_members_of(resets[lag.place])} for lag in lags]
    return answer(collection("KafkaConsumerLag", url, items))


def _members_of(reset: OffsetReset) -> dict[str, int | None]:
    return {
        "previous_offset": reset.committed,
        "requested_offset": reset.wanted,
        "log_start_offset": reset.begin,
        "skipped": reset.skipped,
        "repeated": reset.repeated,
    }


def _check(target: OffsetTarget, where: str) -> None:
    targets = [name for name in _TARGETS if getattr(target, name) is not None]
    if len(targets) != 1:
        raise BAD_REQUEST(detail=f"{where}: give one of {', '.join(_TARGETS)}")
    if target.to is not None and target.to not in _TO:
        raise BAD_REQUEST(detail=f"{where}.to: {target.to[:40]} is none of {', '.join(_TO)}")


async def _targets(admin: AdminClient, data: list[OffsetTarget]) -> dict[PartitionId, OffsetTarget]:
    """The partitions of a body.

    Raises:
        ApiError: A topic or partition does not exist; BAD_REQUEST: one is given twice.
    """
    described = await topics.topics(admin, (str(target.topic_name) for target in data))
    targets: dict[PartitionId, OffsetTarget] = {}
    for target in data:
        topic = described[str(target.topic_name)]
        if isinstance(topic, ApiError):
            raise topic
        numbers = [partition.number for partition in topic.partitions]
        if target.partition_id is not None:
            if target.partition_id not in numbers:
                raise PARTITION_NOT_FOUND()
            numbers = [target.partition_id]
        for place in (PartitionId(topic.name, number) for number in numbers):
            if place in targets:
                raise BAD_REQUEST(detail=f"data: partition {place.partition} of {place.topic} is given more than once")
            targets[place] = target
    return targets


async def _resets(
    admin: AdminClient, group: str, targets: dict[PartitionId, OffsetTarget]
) -> dict[PartitionId, OffsetReset]:
    times = {
        place: _milliseconds(target.timestamp) for place, target in targets.items() if target.timestamp is not None
    }
    beginnings, ends, at_times, committed = await asyncio.gather(
        _answers(admin, dict.fromkeys(targets, offsets.EARLIEST)),
        _answers(admin, dict.fromkeys(targets, offsets.LATEST)),
        _answers(admin, times),
        group_offsets.committed(admin, group),
    )
    resets: dict[PartitionId, OffsetReset] = {}
    for place, target in targets.items():
        at_time = at_times.get(place)
        try:
            resets[place] = reset_of(
                Target(
                    is_earliest=target.to == "earliest",
                    offset=target.offset,
                    timestamp=times.get(place),
                    shift=target.shift_by,
                ),
                committed=committed.get(place),
                begin=beginnings[place].offset or 0,
                end=ends[place].offset or 0,
                at_time=None if at_time is None else at_time.offset,
            )
        except NothingCommitted:
            text = f"shift_by: nothing is committed for partition {place.partition} of {place.topic}"
            raise BAD_REQUEST(detail=text) from None
    return resets


def _milliseconds(timestamp: int | str) -> int:
    return max(0, timestamp) if isinstance(timestamp, int) else milliseconds_of(timestamp)


async def _answers(admin: AdminClient, times: dict[PartitionId, int]) -> dict[PartitionId, OffsetAt]:
    answers: dict[PartitionId, OffsetAt] = {}
    for place, offset in (await offsets.list_offsets(admin, times)).items():
        if isinstance(offset, ApiError):
            raise offset
        answers[place] = offset
    return answers
