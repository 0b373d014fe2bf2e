"""Sends records and the states of their letters in one transaction, so that a crash never separates the two."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import NewTopic

from magicbyte.dead_letters.kafka_clients import transactional_id
from magicbyte.dead_letters.letters_topic import LettersTopic
from magicbyte.kit.kafka.transactions import is_fenced, start, true_errors
from serdes.console.outcome import BAD_DATA, NOT_DELIVERED, Ended
from serdes.console.produce.outbox import Record
from serdes.letters.letter import RecordPosition, Replayed, state_key, state_topic, state_value


class _Unsendable(Ended):
    """A record that the broker would never take; nothing of its batch is sent."""

    def __init__(self, text: str) -> None:
        super().__init__(BAD_DATA, f"nothing of the last batch was sent: {text}")


class Fenced(Ended):
    """Another replay or purge of the topic took over."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A record to send, its topic, and the new state of its letter."""

    topic: str
    record: Record
    identity: RecordPosition
    state: Replayed


class Sender:
    """The only program that sends the letters of a topic back: a second one fences it.

    Raises, in all methods:
        Ended: the brokers refuse us or do not answer, or another replay or purge took over.
    """

    def __init__(self, topic: LettersTopic) -> None:
        self._topic = topic
        self._states = state_topic(topic.name)
        self._make_state_topic()
        own = {"linger.ms": 5, "transactional.id": transactional_id(topic.name)}
        self._producer = Producer({**topic.clients.producer, **own})
        # This aborts the transaction of a crashed program; without that, the states cannot be read to their end.
        self._carry_out(lambda: start(self._producer, self._states, topic.patience))

    def send(self, batch: Sequence[Sent]) -> None:
        """Send records, and note that they were sent: both or neither."""

        def produce() -> None:
            for sent in batch:
                try:
                    self._produce(sent.topic, sent.record)
                except KafkaException as error:
                    place = "{} {}:{}".format(*sent.identity)
                    raise _Unsendable(f"the record of {place} cannot be sent: {error.args[0].str()}") from error
                self._produce(self._states, Record(state_key(sent.identity), state_value(sent.state)))

        self._in_transaction(produce)

    def forget(self, identities: Sequence[RecordPosition]) -> None:
        """Remove the states of letters that are gone."""
        if not identities:
            return

        def produce() -> None:
            for identity in identities:
                self._produce(self._states, Record(state_key(identity), None))

        self._in_transaction(produce)

    def _in_transaction(self, produce: Callable[[], None]) -> None:
        self._carry_out(self._producer.begin_transaction)
        try:
            with true_errors(self._producer):
                produce()
                self._commit()
        except _Unsendable:
            self._abort()
            raise
        except KafkaException as error:
            if error.args[0].txn_requires_abort():
                self._abort()
            raise self._ended(error.args[0]) from error

    def _commit(self) -> None:
        end = time.monotonic() + self._topic.patience
        while True:
            try:
                self._producer.commit_transaction(self._topic.patience)
            except KafkaException as error:
                if not error.args[0].retriable():
                    raise
                if time.monotonic() > end:
                    text = (
                        "it is not known whether the last batch was sent; run the command again, it sends what is left"
                    )
                    raise Ended(NOT_DELIVERED, text) from error
            else:
                return

    def _abort(self) -> None:
        self._carry_out(lambda: self._producer.abort_transaction(self._topic.patience))

    def _produce(self, topic: str, record: Record) -> None:
        optional = {
            name: value
            for name, value in (("partition", record.partition), ("timestamp", record.timestamp))
            if value is not None
        }
        while True:
            try:
                self._producer.produce(topic, record.value, record.key, headers=record.headers or None, **optional)
            except BufferError:
                self._producer.poll(0.1)
            else:
                return

    def _carry_out(self, request: Callable[[], object]) -> None:
        try:
            request()
        except KafkaException as error:
            raise self._ended(error.args[0]) from error

    def _ended(self, cause: KafkaError) -> Ended:
        if is_fenced(cause):
            return Fenced(
                NOT_DELIVERED, f"another replay or purge of {self._topic.name} took over; nothing is sent twice"
            )
        return Ended(NOT_DELIVERED, f"nothing of the last batch was sent: {cause.str()}")

    def _make_state_topic(self) -> None:
        """Make the compacted topic of states, with as many replicas as the letters have."""
        if self._topic.cluster.partitions(self._states):
            return
        admin = self._topic.admin()
        letters = admin.list_topics(self._topic.name, timeout=self._topic.patience).topics[self._topic.name]
        replicas = min(len(partition.replicas) for partition in letters.partitions.values())
        new = NewTopic(self._states, 1, replicas, config={"cleanup.policy": "compact"})
        try:
            admin.create_topics([new], operation_timeout=self._topic.patience)[self._states].result()
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise Ended(NOT_DELIVERED, f"topic {self._states} cannot be made: {error.args[0].str()}") from error
