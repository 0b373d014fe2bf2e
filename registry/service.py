"""The registry as the routes use it: reads that catch up before a 404, and writes that wait for the log."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, TypeVar

from magicbyte.kit.errors import ApiError
from magicbyte.kit.processes.shared_call import SharedCall
from magicbyte.kit.sharing.allowance import Allowance
from registry import errors
from registry.access.visible import VisibleView
from registry.answering import Answering, WorkLeft
from registry.cluster.commit.committer import Command
from registry.cluster.commit.handover import Handover
from registry.cluster.node import Node, Status
from registry.decide import Decision, Question, Sent, Terms, Unanswered, registered
from registry.feed.change_feed import ChangeFeed
from registry.feed.growth import Growth
from registry.feed.kept_bodies import KeptBodies
from registry.feed.searching import Searching
from registry.log.port import LeadershipGivenUp, LeadershipLost, LogError, NotLeader, RecordTooLarge
from registry.offload.jobs import Answer
from registry.registration_count import counted_registration
from registry.settings import RegistrySettings
from registry.state.model import Version
from registry.state.view import View

log = logging.getLogger("magicbyte.registry.service")

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
A = TypeVar("A", bound=Answer)

#: How long a write waits for a leader, and how often it looks for one, in seconds.
_LEADER_SECONDS = 10.0
_ELECTION_SECONDS = 0.05
#: How long a look-up waits until the view has caught up, and how long a probe waits for the status, in seconds.
_SYNC_SECONDS = 10.0
_STATUS_SECONDS = 3.0
#: For how many clients a registry is kept.
_MOST_SERVING = 1000
#: How often work is repeated with more answers: each of 200 lines of an import may refer to the line before it.
_MOST_ROUNDS = 250
#: How often a command is submitted again because the state that its answers depend on has changed.
_MOST_CHANGES = 20


class Decide(Protocol[T_co]):
    """A command that asks questions about schemas: a `decide_...` function with its request."""

    def __call__(self, view: View, now: int, *, terms: Terms) -> Decision[T_co]:
        """Decide; may raise Unanswered."""


@dataclass(frozen=True, slots=True)
class WriteTexts:
    """The error texts of a kind of write, in the reference's words.

    Attributes:
        timed_out: The text of 50002.
        failed: The text of 50001; `{store}` is replaced by the name of the storage.
        forwarded: The name of the operation in the text of 50003.
        no_leader: The text of 50004.
        is_repeatable: Whether a repeated request returns the same answer, even if the first one took effect.
    """

    timed_out: str
    failed: str
    forwarded: str
    no_leader: str = "Leader not known."
    is_repeatable: bool = True


class Registry:
    """A node, with the settings and helpers that requests need.

    Each kind of call that waits for the log or the cluster has its own thread, so that one kind cannot block another.
    """

    def __init__(self, node: Node, settings: RegistrySettings, terms: Terms, *, stopping: threading.Event) -> None:
        """Make the registry of a node.

        Args:
            node: The node, which the caller starts and stops.
            settings: The settings.
            terms: The terms of decisions.
            stopping: Set when the server begins to stop; endless responses end then.
        """
        self.node = node
        self.settings = settings
        self.terms = terms
        self.stopping = stopping
        #: The open /events of each client, and what wakes them.
        self.followers = Allowance(settings.events_per_client)
        self.growth = Growth(lambda: node.view.offset, stopping)
        self._visible: VisibleView | None = None
        #: The client that this registry serves; clients take turns for what they share.
        self.client = ""
        #: Client -> this registry for it.
        self._serving: dict[str, Registry] = {}
        self._status = SharedCall(node.status, "status")
        self.leader_url = SharedCall(node.leader_url, "leader-url")
        self.cluster_id = SharedCall(node.cluster_id, "cluster-id")
        #: Those who ask while the node steps down share the answer.
        self.step_down = SharedCall(node.step_down, "step-down")
        self.index_digests = SharedCall(node.view.index_digests, "digests")
        # `fresh`: a look-up that found nothing must see everything that was written before it began.
        self.sync = SharedCall(node.sync, "sync", fresh=True)
        self._handover = Handover(settings.write_timeout_ms / 1000)
        self.answering = Answering()
        self.searching = Searching(self.answering)
        self.kept_bodies = KeptBodies()
        self.change_feed = ChangeFeed(node)
        #: The thread that makes long lists, one at a time.
        self.lists = ThreadPoolExecutor(1, thread_name_prefix="lists")

    async def close(self) -> None:
        """End threads and processes."""
        calls = (self._status, self.leader_url, self.cluster_id, self.step_down, self.index_digests, self.sync)
        for call in calls:
            call.close()
        self.searching.close()
        self.lists.shutdown(wait=False, cancel_futures=True)
        await self.answering.close()

    @property
    def view(self) -> View:
        """The node's view, without the subjects that the client may not see."""
        return self._visible or self.node.view

    def serving(self, client: str) -> Registry:
        """Return this registry for one client.

        Args:
            client: The principal, or the network of the client's address if it has not signed in.
        """
        serving = self._serving.get(client)
        if serving is None:
            if len(self._serving) >= _MOST_SERVING:
                self._serving.clear()
            serving = self._serving[client] = copy(self)
            serving.client = client
        return serving

    def seen_by(self, may_see: Callable[[str], bool], may_read: Callable[[str], bool]) -> Registry:
        """Return this registry for a client that may not see all subjects; see `VisibleView`."""
        restricted = copy(self)
        restricted._visible = VisibleView(self.node.view, may_see, may_read)  # noqa: SLF001  its own class
        return restricted

    @property
    def _store(self) -> str:
        return "the Kafka store" if self.settings.storage.startswith("kafka:") else "the store"

    async def status(self) -> Status:
        """The node's status; not ready if it is not available in time."""
        try:
            return await self._status(_STATUS_SECONDS)
        except TimeoutError:
            problem = f"the log and the cluster did not report their state within {_STATUS_SECONDS:.0f} s"
            offset = self.view.offset
            return Status(ready=False, leader=False, leader_url=None, offset=offset, lag=None, problem=problem)

    async def find(self, look_up: Callable[[View], T | None]) -> T | None:
        """Look something up; if there is nothing, catch up with the log and look again."""
        result = look_up(self.view)
        if result is not None:
            return result
        await self.catch_up()
        return look_up(self.view)

    async def catch_up(self) -> None:
        """Bring the view to the log's current end; all requests that wait for this share one read.

        Raises:
            ApiError: 50001 if the log can't be read in time.
        """
        try:
            await self.sync(_SYNC_SECONDS)
        except (LogError, TimeoutError) as error:
            why = str(error) or f"reading to its end takes more than {_SYNC_SECONDS:.0f} s"
            log.error("the log can't be read: %s", why, extra={"event": "log_unreadable", "error": why})  # noqa: TRY400  as below
            raise errors.STORE_FAILED(text=f"Error while reading {self._store}") from None

    async def ask(self, question: Question, kind: type[A]) -> A:
        """Answer a question about schemas of the view.

        Raises:
            InvalidSchema: A text is not a schema, or a reference leads nowhere.
            ApiError: The answer takes too much work.
        """
        return await self.compute(lambda terms: terms.ask(self.view, question, kind))

    async def compute(self, work: Callable[[Terms], T], *, in_thread: bool = False) -> T:
        """Do some work on the view and return its result; each time it raises Unanswered, repeat it with the answers.

        Args:
            work: Called with the terms, which have the answers so far.
            in_thread: Whether the work takes long even with all answers.

        Raises:
            ApiError: The work raised it, or an answer takes too much work.
        """
        terms, work_left = self.terms, WorkLeft()
        for _ in range(_MOST_ROUNDS):
            try:
                return await asyncio.to_thread(work, terms) if in_thread else work(terms)
            except Unanswered as missing:
                terms = await self._with_answers(terms, missing, work_left)
        raise errors.OPERATION_TIMED_OUT(
            text="Schemas that this request refers to changed while it was processed; send the request again"
        )

    async def register(self, texts: WriteTexts, sent: Sent) -> Version:
        """Register a schema; a version that has it already is returned without a write, on any node.

        Args:
            texts: The error texts.
            sent: The schema.

        Raises:
            ApiError: As for `decide_register` and `write`.
            NotLeader: Another node takes writes.
        """
        with counted_registration(sent) as registration:
            if self.view.versions(sent.subject):
                version = await self.compute(partial(registered, self.view, sent))
                if version is not None:
                    return version
            return await self.decide(texts, registration.decide)

    async def decide(self, texts: WriteTexts, decide: Decide[T]) -> T:
        """Commit a command; its questions are answered outside the committer's thread.

        Args:
            texts: The error texts.
            decide: The command.

        Raises:
            ApiError: As for `write`, or an answer takes too much work.
            NotLeader: Another node takes writes.
        """
        terms = self.terms
        warnings: tuple[str, ...] = ()

        def noting(view: View, now: int, *, terms: Terms) -> Decision[T]:
            nonlocal warnings
            decision = decide(view, now, terms=terms)
            warnings = decision.warnings
            return decision

        for _ in range(_MOST_CHANGES):
            try:
                result = await self.write(texts, partial(noting, terms=terms))
            except Unanswered as missing:
                terms = await self._with_all_answers(terms, missing, decide)
            else:
                for warning in warnings:
                    log.warning("a new version has doubtful rules: %s", warning, extra={"event": "rules_doubtful"})
                return result
        raise errors.OPERATION_TIMED_OUT(text=texts.timed_out)

    async def _with_all_answers(self, terms: Terms, missing: Unanswered, decide: Decide[object]) -> Terms:
        """The terms with the answers that a command needs, including later questions that it asks of the view now."""
        work_left = WorkLeft()
        terms = await self._with_answers(terms, missing, work_left)
        for _ in range(_MOST_ROUNDS):
            try:
                await asyncio.to_thread(decide, self.view, 0, terms=terms)
            except Unanswered as more:
                terms = await self._with_answers(terms, more, work_left)
            except ApiError:  # only the committer decides whether the command is refused
                break
            else:
                break
        return terms

    async def _with_answers(self, terms: Terms, missing: Unanswered, work_left: WorkLeft) -> Terms:
        answered = await self.answering.answer(missing.view or self.view, missing.questions, work_left, self.client)
        return replace(terms, answered=(*terms.answered, *answered))

    async def write(self, texts: WriteTexts, command: Command[T]) -> T:
        """Commit a command and return its result.

        Args:
            texts: The error texts.
            command: The command.

        Raises:
            ApiError: The command raised it, or 50001 or 50002 if the log did not accept the records.
            NotLeader: Another node takes writes.
        """
        deadline = time.monotonic() + _LEADER_SECONDS
        while True:
            try:
                return await self._handover.wait(self.node.submit(command, self.client))
            except (LeadershipGivenUp, LeadershipLost):
                # The first: a node that has passed the request on looks for the leader itself, and would take a late
                # answer of this one for the loss of the request.
                raise
            except NotLeader:
                if await self.leader_url() is not None:
                    raise
                if time.monotonic() > deadline:
                    raise errors.UPDATE_WITHOUT_LEADER(text=texts.no_leader) from None
                # There is no leader: an election may be running, and this node may win it.
                await asyncio.sleep(_ELECTION_SECONDS)
            except TimeoutError:
                raise errors.OPERATION_TIMED_OUT(text=texts.timed_out) from None
            except RecordTooLarge:
                raise errors.SCHEMA_TOO_LARGE() from None
            except LogError as error:
                log.error("a write failed: %s", error, extra={"event": "write_failed", "error": str(error)})  # noqa: TRY400  the error's text is enough
                raise errors.STORE_FAILED(text=texts.failed.format(store=self._store)) from error
