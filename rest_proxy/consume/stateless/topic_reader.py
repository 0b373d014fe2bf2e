"""Reading partitions without a consumer: fetches from the leaders, and follows leaders that move."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from magicbyte.kit.errors import ApiError
from magicbyte.kit.sharing.fair_queue import FairQueue
from rest_proxy.admin.client import AdminClient, PartitionId, error_of
from rest_proxy.admin.connection.brokers import Brokers, Lost, NotSent
from rest_proxy.admin.connection.nodes import Address
from rest_proxy.admin.offsets import LATEST, list_offsets
from rest_proxy.consume.stateless.bounds import Bounds, OutOfRange
from rest_proxy.consume.stateless.fetch_connections import FetchConnections
from rest_proxy.consume.stateless.fetched import FetchedRecord, Page, unpack
from rest_proxy.consume.stateless.unpacked import BatchTooLarge, is_packed
from rest_proxy.errors import KAFKA_ERROR, KAFKA_RETRIABLE, PARTITION_NOT_FOUND, RECORD_TOO_LARGE, from_broker
from rest_proxy.exchange.kafka_span import consume_span

#: How long a topic's leaders are trusted, and how long a read that misses a leader waits for one, in seconds.
_TRUSTED_SECONDS = 30.0
_LEADER_SECONDS = 10.0
_PAUSE_SECONDS = 0.1
#: How many topics' leaders are kept.
_MOST_TOPICS = 10_000
#: The size of each fetch of a read that takes several, in bytes.
_FETCH_BYTES = 1 << 20
#: The longest answer that is unpacked on the event loop, in bytes, and how many are unpacked beside it at once: one
#: more if the others are one client's.
_QUICK_BYTES = 1 << 18
_UNPACKING = 2
#: UNKNOWN_TOPIC_OR_PARTITION, LEADER_NOT_AVAILABLE, NOT_LEADER_OR_FOLLOWER, REPLICA_NOT_AVAILABLE, KAFKA_STORAGE_ERROR,
#: FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH, OFFSET_NOT_AVAILABLE, UNKNOWN_TOPIC_ID
_MOVED = frozenset((3, 5, 6, 9, 56, 74, 76, 78, 100))
_OUT_OF_RANGE = 1


class _Leaders(NamedTuple):
    """The leader of each partition of a topic, -1 for none, and when this was learned."""

    by_partition: Mapping[int, int]
    learned_at: float


class _LeaderDeadline:
    """The time when a read without a leader fails: seconds after it missed the leader, or at the end of its wait."""

    def __init__(self, end: float = 0.0) -> None:
        """Begin.

        Args:
            end: The monotonic time at which the wait for records ends.
        """
        self._end = end
        self._has_missed = False

    def miss(self) -> None:
        """Note that a leader is missing. Raises KAFKA_RETRIABLE if that has lasted too long."""
        now = time.monotonic()
        if not self._has_missed:
            self._has_missed = True
            self._end = max(self._end, now + _LEADER_SECONDS)
        if now > self._end:
            raise KAFKA_RETRIABLE(
                detail="There is no leader for this topic-partition as we are in the middle of a leadership election."
            )


class TopicReader:
    """Reads from offsets; several reads can run in parallel."""

    def __init__(self, brokers: Brokers, *, max_unpacked: int) -> None:
        """Prepare; nothing is connected yet.

        Args:
            brokers: The brokers to ask.
            max_unpacked: The most bytes of a compressed batch when it is unpacked.
        """
        self._brokers = brokers
        self._max_unpacked = max_unpacked
        self._unpacking = FairQueue(_UNPACKING, reserve=1)
        self._client = AdminClient(brokers)
        self._connections = FetchConnections(brokers)
        self._leaders: dict[str, _Leaders] = {}

    async def partitions(self, topic: str) -> list[int]:
        """The numbers of a topic's partitions.

        Raises:
            ApiError: UNKNOWN_TOPIC_OR_PARTITION, or another error of the brokers.
        """
        return sorted((await self._leaders_of(topic)).by_partition)

    async def offsets(self, topic: str, timestamps: Mapping[int, int], *, is_committed: bool = False) -> dict[int, int]:
        """The offset of the first record not before a time, by partition.

        Args:
            topic: The topic.
            timestamps: By partition, in ms since the epoch, or EARLIEST or LATEST.
            is_committed: Whether the end is the offset of the first open transaction.

        Raises:
            ApiError: PARTITION_NOT_FOUND; UNKNOWN_TOPIC_OR_PARTITION; KAFKA_RETRIABLE if there is no leader in time.
        """
        deadline, client = _LeaderDeadline(), self._client
        await self._leaders_with(topic, timestamps)
        offsets: dict[int, int] = {}
        while missing := {partition: at for partition, at in timestamps.items() if partition not in offsets}:
            times = {PartitionId(topic, partition): at for partition, at in missing.items()}
            for place, answer in (await list_offsets(client, times, read_committed=is_committed)).items():
                if not isinstance(answer, ApiError):
                    offsets[place.partition] = -1 if answer.offset is None else answer.offset
                elif answer.kind is not KAFKA_RETRIABLE:
                    raise answer
            if len(offsets) < len(timestamps):
                await self._pause(topic, deadline)
        after_last = {partition: LATEST for partition, offset in offsets.items() if offset < 0}
        if after_last and timestamps != after_last:
            offsets |= await self.offsets(topic, after_last, is_committed=is_committed)
        return offsets

    def _address(self, leader: int) -> Address | None:
        node = self._brokers.nodes.get(leader)
        return None if node is None else (node.host, node.port)

    async def read(self, topic: str, starts: Mapping[int, int], bounds: Bounds) -> dict[int, Page]:
        """Read partitions; if there is nothing, wait for the first record.

        Args:
            topic: The topic.
            starts: The offset to begin at, by partition.
            bounds: How much to return.

        Raises:
            OutOfRange: For the first partition without its offset.
            ApiError: PARTITION_NOT_FOUND; UNKNOWN_TOPIC_OR_PARTITION; KAFKA_RETRIABLE if there is no leader in time.
        """
        end = time.monotonic() + bounds.wait_ms / 1000
        offsets, waits_until = dict(starts), 0.0
        with consume_span(topic):
            while True:
                pages = await self._fetch_all(topic, offsets, bounds, waits_until)
                offsets = {partition: page.next_offset for partition, page in pages.items()}
                waits_until = end
                if _ms_until(end) == 0 or any(page.records for page in pages.values()):
                    return _shared(pages, bounds)

    async def read_on(self, topic: str, partition: int, start: int, bounds: Bounds) -> Sequence[FetchedRecord]:
        """Read a partition in several fetches, up to its end or the bounds. Raises as `read`."""
        records: list[FetchedRecord] = []
        size = 0
        while True:
            left = bounds._replace(records=bounds.records - len(records), bytes=bounds.bytes - size)
            try:
                pages = await self.read(topic, {partition: start}, left._replace(bytes=min(left.bytes, _FETCH_BYTES)))
            except ApiError as error:
                if records and error.kind is RECORD_TOO_LARGE:  # the next read begins at the batch, and names it
                    return records
                raise
            page = pages[partition]
            records += page.records
            size += sum(record.size for record in page.records)
            if len(records) >= bounds.records or size >= bounds.bytes or not start < page.next_offset < page.latest:
                return records
            start = page.next_offset

    async def _fetch_all(self, topic: str, offsets: Mapping[int, int], bounds: Bounds, end: float) -> dict[int, Page]:
        """Fetch each partition once; brokers without records wait until `end`, or until one of them has some."""
        pages: dict[int, Page] = {}
        deadline = _LeaderDeadline(end)
        while missing := {partition: offset for partition, offset in offsets.items() if partition not in pages}:
            by_leader = await self._by_leader(topic, missing, deadline)
            wait_ms = _ms_until(end)
            fetches = [
                asyncio.ensure_future(self._fetch(topic, leader, starts, bounds, wait_ms))
                for leader, starts in by_leader.items()
            ]
            waiting = set(fetches)
            try:
                while waiting:
                    done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                    if wait_ms and any(map(_has_records, done)):
                        break
            finally:
                for fetch in fetches:
                    fetch.cancel()
                settled = await asyncio.gather(*fetches, return_exceptions=True)
            for starts, outcome in zip(by_leader.values(), settled, strict=True):
                if isinstance(outcome, asyncio.CancelledError):
                    pages |= {partition: Page((), offset) for partition, offset in starts.items()}
                elif isinstance(outcome, BaseException):
                    raise outcome
                else:
                    pages |= outcome
            if len(pages) < len(offsets):
                await self._pause(topic, deadline)
        return pages

    async def _fetch(
        self, topic: str, leader: int, starts: Mapping[int, int], bounds: Bounds, wait_ms: int
    ) -> dict[int, Page]:
        """Fetch from a leader; leaves out partitions that it does not lead."""
        address = self._address(leader)
        try:
            if address is None:
                return {}
            answers = await self._connections.fetch(
                address,
                topic,
                dict(starts),
                max_wait_ms=wait_ms,
                max_bytes=bounds.bytes,
                is_committed=bounds.is_committed,
            )
        except (NotSent, Lost):
            return {}
        pages: dict[int, Page] = {}
        for partition, start in starts.items():
            answer = answers.get(partition)
            if answer is None or answer.code in _MOVED:
                continue
            if answer.code == _OUT_OF_RANGE:
                raise OutOfRange(partition, start)
            if answer.code:
                raise from_broker(answer.code, None, is_retriable=False)
            aborted = answer.aborted if bounds.is_committed else None
            page = await self._page(topic, partition, start, answer.batches, aborted, bounds)
            latest = answer.last_stable if bounds.is_committed else answer.end
            pages[partition] = page._replace(earliest=answer.earliest, latest=latest)
        return pages

    async def _page(
        self,
        topic: str,
        partition: int,
        start: int,
        batches: bytes,
        aborted: Sequence[tuple[int, int]] | None,
        bounds: Bounds,
    ) -> Page:
        """Unpack a partition's batches: on a thread if that may take long, and few at once for their memory.

        Raises:
            ApiError: RECORD_TOO_LARGE if the first batch unpacks to too much; KAFKA_ERROR if one cannot be unpacked.
        """
        most = self._max_unpacked
        unpack_page = partial(
            unpack, topic, partition, start, batches, aborted, bounds.records, bounds.bytes, max_unpacked=most
        )
        try:
            if len(batches) <= _QUICK_BYTES and not is_packed(batches):
                return unpack_page()
            async with self._unpacking.turn(bounds.client):
                return await asyncio.to_thread(unpack_page)
        except BatchTooLarge as batch:
            raise RECORD_TOO_LARGE(
                detail=f"The compressed batch at offset {batch.offset} of partition {partition} unpacks to more than"
                f" {most} bytes (consumer.request.max.bytes); the records after it begin at offset {batch.next_offset}."
            ) from None
        except ValueError as error:
            raise KAFKA_ERROR(
                detail=f"A batch of partition {partition} from offset {start} on cannot be unpacked: {error}"
            ) from None

    async def _by_leader(
        self, topic: str, values: Mapping[int, int], deadline: _LeaderDeadline
    ) -> dict[int, dict[int, int]]:
        """The values of partitions by their leader; waits for leaders. Raises as `read`."""
        while True:
            leaders = await self._leaders_with(topic, values)
            by_leader: dict[int, dict[int, int]] = {}
            for partition, value in values.items():
                by_leader.setdefault(leaders[partition], {})[partition] = value
            if -1 not in by_leader:
                return by_leader
            await self._pause(topic, deadline)

    async def _leaders_with(self, topic: str, partitions: Collection[int]) -> Mapping[int, int]:
        """The leaders of a topic that has some partitions. Raises as `read`."""
        leaders = (await self._leaders_of(topic)).by_partition
        if not all(partition in leaders for partition in partitions):
            # The partition may be new.
            leaders = (await self._leaders_of(topic, fresh=True)).by_partition
            if not all(partition in leaders for partition in partitions):
                raise PARTITION_NOT_FOUND()
        return leaders

    async def _leaders_of(self, topic: str, *, fresh: bool = False) -> _Leaders:
        leaders = self._leaders.get(topic)
        if leaders is None or fresh or time.monotonic() - leaders.learned_at > _TRUSTED_SECONDS:
            answer = (await self._client.metadata((topic,))).topics[0]
            if answer.error_code and int(answer.error_code) != 5:
                self._leaders.pop(topic, None)
                raise error_of(answer)
            if len(self._leaders) >= _MOST_TOPICS:
                self._leaders.clear()
            by_partition = {int(info.partition_index): int(info.leader_id) for info in answer.partitions}
            leaders = self._leaders[topic] = _Leaders(by_partition, time.monotonic())
        return leaders

    async def _pause(self, topic: str, deadline: _LeaderDeadline) -> None:
        """Wait a moment, and forget the leaders of a topic. Raises KAFKA_RETRIABLE if a leader is missing too long."""
        deadline.miss()
        self._leaders.pop(topic, None)
        await asyncio.sleep(_PAUSE_SECONDS)

    async def close(self) -> None:
        """Close all connections."""
        await self._connections.close()
        await self._client.close()


def _ms_until(end: float) -> int:
    """The whole milliseconds until a monotonic time, 0 if it has passed."""
    return max(0, int((end - time.monotonic()) * 1000))


def _has_records(fetch: asyncio.Future[Any]) -> bool:
    return fetch.exception() is not None or any(page.records for page in fetch.result().values())


def _shared(pages: Mapping[int, Page], bounds: Bounds) -> dict[int, Page]:
    """The pages of several partitions, cut to the common bounds so that each partition gets its share."""
    if len(pages) == 1:
        return dict(pages)
    taken: dict[int, int] = dict.fromkeys(pages, 0)
    count = size = 0
    waiting = [partition for partition, page in pages.items() if page.records]
    while waiting:
        for partition in tuple(waiting):
            records, index = pages[partition].records, taken[partition]
            if count and (count >= bounds.records or size + records[index].size > bounds.bytes):
                return {partition: _cut(page, taken[partition]) for partition, page in pages.items()}
            taken[partition] += 1
            count += 1
            size += records[index].size
            if taken[partition] == len(records):
                waiting.remove(partition)
    return dict(pages)


def _cut(page: Page, count: int) -> Page:
    if count == len(page.records):
        return page
    return page._replace(records=page.records[:count], next_offset=page.records[count].offset())
