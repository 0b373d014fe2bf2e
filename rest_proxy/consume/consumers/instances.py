"""Consumer instances: reads that can be repeated, commits, and expiry."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from magicbyte.kit.sharing.allowance import Allowance
from rest_proxy import metrics
from rest_proxy.access.rights import ProxyRights
from rest_proxy.consume.consumers.buffer import Fetched, PartitionId, Position
from rest_proxy.consume.consumers.consumer import PolledConsumer
from rest_proxy.consume.consumers.instance_limit import shortage
from rest_proxy.consume.rendering.records import Rendered, render
from rest_proxy.errors import (
    CONSUMER_EXISTS,
    CONSUMER_NOT_FOUND,
    FORMAT_MISMATCH,
    SERIALIZATION,
    TOO_MANY_CONSUMERS,
    is_out_of_resources,
)
from rest_proxy.formats.embedded import EmbeddedFormat
from rest_proxy.formats.plain import TAGGED, DataError, Options
from rest_proxy.formats.schemas import Schemas

log = logging.getLogger("rest_proxy.consume.consumers.instances")


@dataclass(frozen=True, slots=True)
class InstanceConfig:
    """The configuration of an instance, chosen by its client.

    With `fetch_min_bytes` below 1, a read returns as soon as there is a record. With `report_errors`, a record that
    does not decode is returned with its error instead of failing the read.
    """

    form: EmbeddedFormat
    auto_commit: bool
    fetch_min_bytes: int
    request_timeout_ms: int
    report_errors: bool = False
    options: Options = TAGGED


class Batch(NamedTuple):
    """The last batch that was read with a token, until it is settled.

    It is rendered again for each read, because the client's rights may have changed.
    """

    token: str
    messages: Sequence[Fetched]


@dataclass(slots=True)
class Instance:
    """A consumer instance, which runs one operation at a time."""

    owner: str
    group: str
    name: str
    config: InstanceConfig
    consumer: PolledConsumer
    schemas: Schemas
    blocking: ThreadPoolExecutor
    client: str
    last_use: float = field(default_factory=time.monotonic)
    last: Batch | None = None
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def read(
        self,
        form: EmbeddedFormat | None,
        *,
        timeout_ms: int,
        max_bytes: int,
        token: str | None = None,
        rights: ProxyRights | None = None,
    ) -> bytes:
        """Read the next records as a JSON array; if the token is the last read's, return the same records again.

        Args:
            form: The requested format.
            timeout_ms: How long to wait for records.
            max_bytes: The total size of the records, at most.
            token: A name for the batch, so that it can be read again.
            rights: The client's rights; None if access is not restricted. Records of topics that the client may not
                read stay unread. The rules count that are in force when the records have arrived.

        Raises:
            ApiError: FORMAT_MISMATCH; KAFKA_AUTHORIZATION; SERIALIZATION if the first record does not decode.
            KafkaException: The consumer has failed.
        """
        if form is not None and form is not self.config.form:
            raise FORMAT_MISMATCH()
        async with self._turn:
            if self.last is not None and token is not None and token == self.last.token:
                return await self._again(self.last.messages, rights)
            self._settle()
            await self.consumer.wait_for(max(1, self.config.fetch_min_bytes), timeout_ms / 1000)
            body, messages = await self._next(max_bytes, rights)
            if token is not None and messages:
                self.last = Batch(token, messages)
            self.last_use = time.monotonic()
            return body

    async def _next(self, max_bytes: int, rights: ProxyRights | None) -> tuple[bytes, Sequence[Fetched]]:
        epochs = self.consumer.buffer.epochs()
        messages = self.consumer.buffer.take(max_bytes)
        if not messages:
            return b"[]", ()
        rendered: Rendered | None = None
        try:
            rendered = await self._render(messages, rights)
        finally:
            # Records that were not rendered, for whatever reason, stay unread.
            done = rendered.done if rendered else 0
            self.consumer.buffer.put_back(messages[done:], epochs)
        if not rendered.done and rendered.failure is not None:
            raise _undecodable(messages[0], rendered.failure)
        return rendered.body, messages[:done]

    async def _again(self, messages: Sequence[Fetched], rights: ProxyRights | None) -> bytes:
        rendered = await self._render(messages, rights)
        if rendered.failure is not None:
            raise _undecodable(messages[rendered.done], rendered.failure)
        return rendered.body

    async def _render(self, messages: Sequence[Fetched], rights: ProxyRights | None) -> Rendered:
        if rights is not None:
            rights = rights.now()
            rights.require_topics("READ", (str(message.topic()) for message in messages))
        return await render(
            messages,
            self.config.form,
            self.schemas,
            self.config.options,
            rights=rights,
            report_errors=self.config.report_errors,
            blocking=self.blocking,
        )

    def _settle(self) -> None:
        """Treat the last batch as received: it may be committed, and is not returned again."""
        self.last = None
        if self.config.auto_commit:
            self.consumer.store(self.consumer.buffer.delivered())

    async def commit(self, positions: Sequence[Position] | None, *, wait: bool = True) -> list[Position]:
        """Commit these positions, or for None those after all delivered records; returns the positions.

        Raises:
            KafkaException: The brokers refuse the commit.
        """
        async with self._turn:
            targets = self.consumer.buffer.delivered() if positions is None else list(positions)
            if targets:
                committing = asyncio.ensure_future(self.consumer.commit(targets))
                if wait:
                    await committing
                else:
                    committing.add_done_callback(_log_failure)
            self._settle()
            return targets

    async def committed(self, places: Sequence[PartitionId]) -> list[Position]:
        """The committed positions of these partitions; partitions without one are left out."""
        return await self.consumer.committed(places)

    async def in_turn(self, operation: Callable[[PolledConsumer], Any]) -> Any:
        """Run an operation of the consumer, in order with reads and commits."""
        async with self._turn:
            return await operation(self.consumer)

    async def close(self, *, settle: bool) -> None:
        """Leave the group; with `settle`, the last batch counts as received."""
        async with self._turn:
            if settle:
                self._settle()
            await self.consumer.close()


def _undecodable(message: Fetched, failure: DataError) -> Exception:
    place = f"{message.topic()}-{message.partition()} at offset {message.offset()}"
    return SERIALIZATION(
        detail=f"Error deserializing key/value for partition {place}. If needed, please seek past the record to "
        f"continue consumption. {failure}"
    )


def _log_failure(future: asyncio.Future[Any]) -> None:
    if not future.cancelled() and future.exception() is not None:
        log.warning(
            "an asynchronous commit failed: %s",
            future.exception(),
            extra={"event": "commit_failed", "error": str(future.exception())},
        )


class Instances:
    """All instances of this node by owner, group and name; the owner is the principal that created it."""

    def __init__(
        self,
        *,
        idle_seconds: float,
        limit: int,
        limit_per_client: int = 0,
        server_id: str = "",
        limited_by: str = "consumer.instances.max",
    ) -> None:
        """Begin without instances.

        Args:
            idle_seconds: How long an instance may be idle.
            limit: How many there may be.
            limit_per_client: How many a principal may have, or an address if nobody signs in; 0 for half of all.
            server_id: A part of the names of instances whose clients choose none.
            limited_by: The setting or the limit of the system that `limit` comes from.
        """
        self._idle_seconds = idle_seconds
        self._limit = limit
        self._limited_by = limited_by
        self._allowance = Allowance(limit_per_client or max(1, limit // 2))
        self._prefix = f"rest-consumer-{server_id}-" if server_id else "rest-consumer-"
        self._closing: set[asyncio.Task[None]] = set()
        #: None reserves the name of an instance that is being made.
        self._instances: dict[tuple[str, str, str], Instance | None] = {}

    def new_name(self) -> str:
        """A name for an instance whose client has chosen none."""
        return f"{self._prefix}{uuid.uuid4()}"

    async def add(self, owner: str, client: str, group: str, name: str, make: Callable[[], Instance]) -> Instance:
        """Make an instance; its name is reserved meanwhile.

        Args:
            owner: The principal's name.
            client: The client for which it counts: the principal, or an address if nobody signs in.
            group: The consumer group.
            name: The instance's name.
            make: Makes the instance.

        Raises:
            ApiError: CONSUMER_EXISTS; TOO_MANY_CONSUMERS.
        """
        key = (owner, group, name)
        if key in self._instances:
            raise CONSUMER_EXISTS()
        if len(self._instances) >= self._limit:
            raise _full(f"{self._limit} are open ({self._limited_by}).")
        lacking = shortage()
        if lacking:
            raise _full(lacking)
        if not self._allowance.take(client):
            detail = f"this client has {self._allowance.most} (magicbyte.consumer.instances.max.per.client)."
            raise TOO_MANY_CONSUMERS(detail=detail)
        self._instances[key] = None
        try:
            instance = make()
        except BaseException as error:
            del self._instances[key]
            self._allowance.give_back(client)
            if is_out_of_resources(error):
                raise _full(f"the system gives this process no more files or threads: {error}") from error
            raise
        self._instances[key] = instance
        return instance

    def get(self, owner: str, group: str, name: str) -> Instance:
        """The instance; its idle time starts again.

        Raises:
            ApiError: CONSUMER_NOT_FOUND.
        """
        instance = self._instances.get((owner, group, name))
        if instance is None:
            raise CONSUMER_NOT_FOUND()
        instance.last_use = time.monotonic()
        return instance

    async def remove(self, owner: str, group: str, name: str) -> None:
        """Close an instance at the request of its client.

        Raises:
            ApiError: CONSUMER_NOT_FOUND.
        """
        instance = self.get(owner, group, name)
        self._forget(instance)
        await instance.close(settle=True)

    def _forget(self, instance: Instance) -> None:
        del self._instances[instance.owner, instance.group, instance.name]
        self._allowance.give_back(instance.client)

    async def expire(self) -> None:
        """Close instances that are idle for too long; runs until cancelled."""
        while True:
            await asyncio.sleep(min(1.0, self._idle_seconds))
            oldest = time.monotonic() - self._idle_seconds
            expired: list[Instance] = []
            for instance in [*self._instances.values()]:
                # An instance with a read in progress is in use.
                if instance is None or instance.last_use >= oldest or instance._turn.locked():  # noqa: SLF001
                    continue
                log.info(
                    "instance %s of group %s was idle too long and is closed",
                    instance.name,
                    instance.group,
                    extra={"event": "consumer_expired", "instance": instance.name, "group": instance.group},
                )
                self._forget(instance)
                metrics.EXPIRED.inc()
                expired.append(instance)
            if expired:
                # This is a task because closing may take long if the brokers are not reachable.
                closing = asyncio.create_task(_close_all(expired))
                self._closing.add(closing)
                closing.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        """Close all instances; their unsettled records are delivered again to the next consumer of the group."""
        instances, self._instances = self._instances, {}
        await _close_all(instance for instance in instances.values() if instance is not None)

    @property
    def limit(self) -> int:
        """The maximum number of instances."""
        return self._limit

    def __len__(self) -> int:
        return len(self._instances)


def _full(detail: str) -> Exception:
    return TOO_MANY_CONSUMERS(detail=detail).with_headers(Retry_After="5")


async def _close_all(instances: Iterable[Instance]) -> None:
    for result in await asyncio.gather(
        *(instance.close(settle=False) for instance in instances), return_exceptions=True
    ):
        if isinstance(result, BaseException):
            log.warning(
                "closing a consumer instance: %s", result, extra={"event": "consumer_not_closed", "error": str(result)}
            )
