"""The registry as the routes see it: reads that catch up before they say no, and writes that wait for the log."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from registry import errors
from registry.committer import Command
from registry.decide import Terms
from registry.handover import Handover
from registry.log.port import LeadershipLost, LogError, NotLeader, RecordTooLarge
from registry.model import Content
from registry.node import Node
from registry.operations import Operation
from registry.settings import RegistrySettings
from registry.view import View

log = logging.getLogger("magicbyte.registry.service")

T = TypeVar("T")

#: How long a write waits for a leader, and how long between two looks.
_LEADER_SECONDS = 10.0
_ELECTION_SECONDS = 0.05
#: Longest text, in characters, that is parsed on the event loop.
_SHORT_TEXT = 16 * 1024


@dataclass(frozen=True, slots=True)
class Registry:
    """One node with the settings that its answers depend on."""

    node: Node
    settings: RegistrySettings
    terms: Terms
    handover: Handover = field(default_factory=Handover)
    #: Set when the server begins to stop: answers that never end by themselves end then.
    stopping: threading.Event = field(default_factory=threading.Event)

    @property
    def view(self) -> View:
        """The state as this node knows it."""
        return self.node.view

    @property
    def _store(self) -> str:
        return "the Kafka store" if self.settings.storage.startswith("kafka:") else "the store"

    async def find(self, look_up: Callable[[View], T | None]) -> T | None:
        """A look-up that, where it finds nothing, is done again once the view has reached the log's end."""
        found = look_up(self.view)
        if found is not None:
            return found
        await self.catch_up()
        return look_up(self.view)

    async def compute(self, content: Content, work: Callable[[], T]) -> T:
        """Do work on a content: at once where it is short, else in a thread, so that other requests go on."""
        return work() if is_short(content) else await asyncio.to_thread(work)

    async def catch_up(self) -> None:
        """Bring the view to the log's present end, where that takes anything.

        Raises:
            ApiError: 50001 where the log can't be read in time.
        """
        try:
            await asyncio.to_thread(self.node.sync)
        except LogError as error:
            log.error("the log can't be read: %s", error)  # noqa: TRY400  as below
            raise errors.STORE_FAILED(text=f"Error while reading {self._store}") from error

    async def write(self, operation: Operation, command: Command[T]) -> T:
        """Commit a command and return its result.

        Args:
            operation: What the texts of errors say.
            command: Decides on the view.

        Raises:
            ApiError: What the command raised, or 50001 or 50002 where the log did not take it.
            NotLeader: Another node takes writes.
        """
        deadline = time.monotonic() + _LEADER_SECONDS
        while True:
            try:
                return await self._commit(operation, command)
            except LeadershipLost:
                raise
            except NotLeader:
                if await asyncio.to_thread(self.node.leader_url) is not None:
                    raise
                if time.monotonic() > deadline:
                    raise errors.UPDATE_WITHOUT_LEADER(text=operation.no_leader) from None
                # An election is under way: this node may be the one that wins it.
                await asyncio.sleep(_ELECTION_SECONDS)

    async def _commit(self, operation: Operation, command: Command[T]) -> T:
        try:
            return await self.handover.wait(self.node.submit(command), self.settings.write_timeout_ms / 1000)
        except TimeoutError:
            raise errors.OPERATION_TIMED_OUT(text=operation.timed_out) from None
        except RecordTooLarge:
            raise errors.SCHEMA_TOO_LARGE() from None
        except NotLeader:
            raise
        except LogError as error:
            log.error("a write failed: %s", error)  # noqa: TRY400  the log's own text says it all
            raise errors.STORE_FAILED(text=operation.failed.format(store=self._store)) from error


def is_short(content: Content) -> bool:
    """Tell whether a content is parsed in no time; what it refers to may be long."""
    return len(content.text) <= _SHORT_TEXT and not content.references
