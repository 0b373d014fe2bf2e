"""The admin client: requests to the broker that can answer them, and their errors as the API's."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from magicbyte.kit.errors import ApiError
from rest_proxy.admin.connection.nodes import Node
from rest_proxy.errors import KAFKA_RETRIABLE, from_broker

if TYPE_CHECKING:
    from rest_proxy.admin.connection.brokers import Brokers

_NOT_CONTROLLER = 41
#: The coordinator is loading, not available, or another one.
_COORDINATOR_MOVES = frozenset((14, 15, 16))
_PAUSE_SECONDS = 0.1


class PartitionId(NamedTuple):
    """A partition."""

    topic: str
    partition: int


class AdminClient:
    """Sends each request to a broker that can answer it: any, the controller, a coordinator, or a named one."""

    def __init__(self, brokers: Brokers) -> None:
        """Make a client, without connecting yet."""
        #: How long a broker may take for a change; less than the client's own timeout.
        self.broker_timeout = timedelta(seconds=brokers.timeout * 0.8)
        #: Sends a request to one broker: a named one or any.
        self.ask = brokers.ask
        self._brokers = brokers
        self._controller: int | None = None
        self._cluster_id: str | None = None

    async def close(self) -> None:
        """Close all connections."""
        await self._brokers.close()

    async def cluster_id(self, *, fresh: bool = False) -> str | None:
        """The cluster's id, which never changes; None if the brokers are too old to have one."""
        if self._cluster_id is None or fresh:
            await self.metadata(())
        return self._cluster_id

    async def nodes(self) -> Mapping[int, Node]:
        """The brokers that the cluster has now, by id."""
        await self.metadata(())
        return self._brokers.nodes

    async def controller(self) -> int | None:
        """The controller's id, or with KRaft the id of a broker that forwards to it; None if there is none."""
        await self.metadata(())
        return self._controller

    async def metadata(
        self, topics: Iterable[str] | None, *, authorized_operations: bool = False, node: int | None = None
    ) -> Any:
        """Metadata of some topics, of all topics (None), or of the brokers alone (()); from one node or any broker."""
        values = {
            "topics": None if topics is None else [{"name": topic} for topic in topics],
            "include_topic_authorized_operations": authorized_operations,
            "allow_auto_topic_creation": False,
        }
        response = await self.ask("metadata", values, node=node)
        self._brokers.nodes = {
            int(broker.node_id): Node(int(broker.node_id), broker.host, broker.port, broker.rack)
            for broker in response.brokers
        }
        self._cluster_id = getattr(response, "cluster_id", None)
        self._controller = response.controller_id if response.controller_id >= 0 else None
        return response

    async def ask_controller(
        self, name: str, values: Mapping[str, Any], *, optional: Collection[str] = (), repeatable: bool = False
    ) -> Any:
        """Ask the controller: with KRaft through any broker, else directly. Raises as `ask`."""
        deadline = time.monotonic() + self._brokers.timeout
        node = None
        while True:
            response = await self.ask(name, values, node=node, optional=optional, repeatable=repeatable)
            if _NOT_CONTROLLER not in error_codes(response) or time.monotonic() > deadline:
                return response
            if node is not None:
                await asyncio.sleep(_PAUSE_SECONDS)
            node = await self.controller()

    async def ask_coordinator(
        self, group: str, name: str, values: Mapping[str, Any], *, optional: Collection[str] = ()
    ) -> Any:
        """Ask the coordinator of a group, and follow it if it moves. Raises as `ask`."""
        deadline = time.monotonic() + self._brokers.timeout
        while True:
            node = await self.coordinator(group)
            try:
                response = await self.ask(name, values, node=node, optional=optional)
            except ApiError as error:
                if error.kind is not KAFKA_RETRIABLE or time.monotonic() > deadline:
                    raise
            else:
                if not _COORDINATOR_MOVES & error_codes(response) or time.monotonic() > deadline:
                    return response
            await asyncio.sleep(_PAUSE_SECONDS)

    async def coordinator(self, group: str) -> int:
        """The id of a group's coordinator.

        Raises:
            ApiError: As `ask`; the group may not be described.
        """
        deadline = time.monotonic() + self._brokers.timeout
        values = {"key": group, "key_type": 0, "coordinator_keys": [group]}
        while True:
            response = await self.ask("find_coordinator", values, optional=("key", "key_type", "coordinator_keys"))
            answer = response.coordinators[0] if hasattr(response, "coordinators") else response
            code = int(answer.error_code)
            if code == 0:
                node = int(answer.node_id)
                if node in self._brokers.nodes or node in await self.nodes():
                    return node
            elif code not in _COORDINATOR_MOVES:
                raise error_of(answer)
            if time.monotonic() > deadline:
                raise KAFKA_RETRIABLE(detail="The coordinator is not available.")
            await asyncio.sleep(_PAUSE_SECONDS)


def error_codes(response: Any) -> set[int]:
    """All error codes in a response and its parts."""
    return set(_error_codes(response))


def _error_codes(entity: Any) -> Iterator[int]:
    code = getattr(entity, "error_code", 0)
    if code:
        yield int(code)
    for field in dataclasses.fields(entity):
        value = getattr(entity, field.name)
        if isinstance(value, tuple):
            for item in value:
                if dataclasses.is_dataclass(item):
                    yield from _error_codes(item)


def require(answer: Any) -> None:
    """Check the error code of a response or of one of its parts.

    Raises:
        ApiError: The error in the response.
    """
    if answer.error_code:
        raise error_of(answer)


def error_of(answer: Any) -> ApiError:
    """The error in a response or in one of its parts."""
    code = answer.error_code
    return from_broker(int(code), getattr(answer, "error_message", None), is_retriable=code.retriable)
