"""A node of a cluster on Kafka: it follows the log, and writes it while it leads."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from magicbyte.kafka import client_config
from magicbyte.settings import SettingsError
from registry.committer import Command, Committer
from registry.log.kafka import KafkaLog
from registry.log.leader import Election
from registry.log.port import BEGINNING, LeadershipLost, LogError, NotLeader
from registry.log.topic import prepare_topic
from registry.node import Status, long_lived_objects
from registry.settings import RegistrySettings
from registry.takeover import amends
from registry.view import View

log = logging.getLogger("magicbyte.registry.node")

T = TypeVar("T")

_FOLLOW_SECONDS = 0.2
_SYNC_SECONDS = 5.0
#: A probe must not wait as long as a request may.
_STATUS_SECONDS = 2.0


class KafkaNode:
    """Follows the topic in a thread of its own; once elected, takes over and lets the committer write.

    While it leads, the committer alone changes the view, for nobody else can write; while it follows, the follower's
    thread does.
    """

    def __init__(
        self, store: KafkaLog, url: str, election: Election, *, prepare: Callable[[], None], eligible: bool = True
    ) -> None:
        """Make a node that is not running yet.

        Args:
            store: The topic.
            url: Where other nodes reach this one.
            election: Its place in the cluster.
            prepare: Makes sure of the topic, at the start.
            eligible: It may lead; else it only ever follows.
        """
        self.view = View()
        self._log = store
        self._url = url
        self._election = election
        self._prepare = prepare
        self._eligible = eligible
        self._committer = Committer(store, self.view, recover=self._recover)
        store.on_fenced = self._fenced
        self._leads = False
        self._taking_over = False
        self._follower = threading.Thread(target=self._follow, name="log-follower", daemon=True)
        self._moved = threading.Condition()
        self._stopping = threading.Event()
        self._replayed = False
        #: The position up to which the view holds everything; the reader's own runs ahead of it.
        self._seen = 0
        self._problem = ""
        self._cluster_id = ""

    def start(self) -> None:
        """Replay the topic, then follow it and stand for election."""
        started = time.perf_counter()
        self._prepare()
        with long_lived_objects():
            self._committer.catch_up()
        self._replayed = True
        self._seen = self._log.position
        log.info("log replayed to offset %d in %.3f s", self.view.offset, time.perf_counter() - started)
        self._committer.start()
        self._follower.start()
        if self._eligible:
            self._election.start(self.take_over, self.step_down)

    def stop(self) -> None:
        """Finish the writes under way, hand over, and leave."""
        self._committer.stop()
        self._election.stop()
        self._stopping.set()
        self._follower.join()
        self._log.close()

    def submit(self, command: Command[T]) -> Future[T]:
        """Queue a write; see `Node.submit`."""
        if not self._leads:
            refused: Future[T] = Future()
            refused.set_exception(NotLeader("this node does not lead"))
            return refused
        return self._committer.submit(command)

    def leader_url(self) -> str | None:
        """Where writes go now; None where nobody knows."""
        if self._leads:
            return self._url
        found = self._election.leader_url()
        return None if found == self._url else found

    def sync(self) -> None:
        """Wait until the view holds all that is committed now; see `Node.sync`."""
        end = self._log.end_position(committed=False)
        if self._leads:
            # A node that was stopped for a while, or cut off, may have been replaced and not know it yet.
            if self._log.wrote_up_to(end) or self._is_owner():
                return
            log.warning("another node leads now")
            self._depose()
        with self._moved:
            if self._moved.wait_for(lambda: self._seen >= end or self._leads, _SYNC_SECONDS):
                return
        # What is still open by now was answered to nobody.
        if self._seen < self._log.end_position():
            raise LogError(f"the log was not read to {end} within {_SYNC_SECONDS:.0f} s")

    def _is_owner(self) -> bool:
        owner = self._election.owner()
        if owner is None:
            raise LogError("whether this node still leads can't be told now")
        return owner == self._url

    def cluster_id(self) -> str:
        """The id of the Kafka cluster."""
        self._cluster_id = self._cluster_id or self._log.cluster_id()
        return self._cluster_id

    def status(self) -> Status:
        """How the node is; asks Kafka."""
        leader_url = self.leader_url()
        problem = self._problem or self._election.problem
        lag: int | None = None
        try:
            end = self._log.end_position(timeout=_STATUS_SECONDS)
            lag = 0 if self._leads else max(0, end - self._seen)
        except LogError as error:
            problem = problem or str(error)
        if not self._follower.is_alive():
            problem = "the thread that reads the log has ended"
        elif self._eligible and not self._election.is_alive:
            problem = "the thread of the election has ended"
        elif leader_url is None:
            problem = problem or "no node leads; writes are refused"
        return Status(
            ready=self._replayed and not problem,
            leader=self._leads,
            leader_url=leader_url,
            offset=self.view.offset,
            lag=lag,
            problem=problem,
        )

    # The follower's thread

    def _follow(self) -> None:
        while not self._stopping.is_set():
            if self._leads or self._taking_over:
                self._stopping.wait(_FOLLOW_SECONDS)
            else:
                self._follow_once()
            with self._moved:
                self._moved.notify_all()

    def _follow_once(self) -> None:
        try:
            with self._committer.applying:
                for entry in self._log.follow(self.view.offset, _FOLLOW_SECONDS):
                    self.view.apply(entry)
                self._seen = self._log.position
            self._problem = ""
        except LogError as error:
            self._problem = str(error)
            log.warning("the log can't be followed: %s", error)
            self._stopping.wait(_FOLLOW_SECONDS)

    # The election's thread

    def take_over(self) -> None:
        """Become the writer: fence the others, read all that is committed, make amends for what was aborted.

        Raises:
            LogError: Kafka refused; the node goes on following.
        """
        started = time.perf_counter()
        self._taking_over = True
        try:
            self._open()
            self._leads = True
            self._problem = ""
        finally:
            self._taking_over = False
        with self._moved:
            self._moved.notify_all()
        log.info("leads from offset %d on; taking over took %.3f s", self.view.offset, time.perf_counter() - started)

    def step_down(self) -> None:
        """Follow again."""
        self._leads = False
        self._log.close_writer()
        log.info("follows again at offset %d", self.view.offset)

    def _open(self) -> None:
        """Open the writer, which ends what was under way, and leave nothing aborted that could be mistaken.

        Raises:
            LogError: The writer is closed again.
        """
        try:
            self._log.open_writer()
            self._committer.catch_up()
            # Whoever writes in transactions has left a mark first; where there is none, nothing can have been aborted.
            settled = self.view.settled_offset
            aborted = [] if settled == BEGINNING else self._log.aborted_since(settled)
            written = amends(self.view, aborted, int(time.time() * 1000))
            self._committer.apply(written, self._log.settle(written, self.view.offset))
        except LogError:
            self._log.close_writer()
            raise
        if aborted:
            log.warning("made amends for %d records of aborted transactions", len(aborted))

    # The committer's thread

    def _recover(self) -> None:
        """Find out what came of a transaction, as its owner still: else two nodes would fence each other for ever.

        Raises:
            LogError: Nobody can tell now; the node asks for the leadership again.
        """
        try:
            if self._election.owner() != self._url:
                raise LeadershipLost("this node may not lead any more; whether the write happened is unknown")
            self._open()
        except LogError:
            self._depose()
            raise

    def _fenced(self) -> None:
        """Another node has opened the writer: this one does not lead, whatever it believed."""
        log.warning("fenced: another node writes now")
        self._depose()

    def _depose(self) -> None:
        """Lead no more, whatever this node believed, and ask for the leadership again."""
        self._leads = False
        self._log.close_writer()
        self._election.rejoin()


def open_kafka_node(settings: RegistrySettings) -> KafkaNode:
    """The node that the settings ask for, not started yet; Kafka is not asked before it starts.

    Raises:
        SettingsError: No bootstrap servers are given.
    """
    if not settings.bootstrap_servers:
        raise SettingsError("kafkastore.bootstrap.servers: needed to keep schemas in Kafka")
    client = client_config(settings.kafka_client_properties) | {"bootstrap.servers": settings.bootstrap_servers}
    # What librdkafka has to say goes where our own log goes.
    client["logger"] = logging.getLogger("magicbyte.librdkafka")
    url = settings.advertised_url
    store = KafkaLog(client, settings.topic, f"magicbyte-{settings.group_id}")

    def prepare() -> None:
        store.max_record_bytes = prepare_topic(
            client,
            settings.topic,
            replication=settings.topic_replication_factor,
            configs=settings.topic_configs,
            skip_validation=settings.topic_skip_validation,
            timeout=settings.init_timeout_ms / 1000,
        )

    election = Election(
        client,
        topic=settings.topic,
        group=f"magicbyte-{settings.group_id}",
        foreign_group=settings.group_id,
        url=url,
        node_id=settings.node_id or url,
        session_timeout_ms=settings.session_timeout_ms,
    )
    return KafkaNode(store, url, election, prepare=prepare, eligible=settings.leader_eligibility)
