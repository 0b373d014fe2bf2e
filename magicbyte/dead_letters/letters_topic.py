"""A topic of dead letters on a broker: its letters, and the compacted topic that says which were replayed."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from confluent_kafka import Message
from confluent_kafka.admin import AdminClient

from magicbyte.dead_letters.kafka_clients import KafkaClients
from magicbyte.topic_ids.scan import Scanner, Selection, Windows
from serdes.console.consume.start import Cluster
from serdes.console.outcome import BAD_DATA, Ended
from serdes.letters.headers import Header
from serdes.letters.letter import Letter, RecordPosition, Replayed, read_state, state_topic


class LettersTopic:
    """Reads a topic of dead letters.

    Args:
        name: The topic.
        clients: The configurations of the Kafka clients.

    Raises, in all methods:
        Ended: there is no such topic, or the brokers refuse us or do not answer.
    """

    def __init__(self, name: str, clients: KafkaClients) -> None:
        self.name = name
        self.clients = clients
        self.patience = clients.patience
        self._scanner = Scanner(clients.consumer, self.patience)

    def close(self) -> None:
        """Close the consumer."""
        self._scanner.close()

    @property
    def cluster(self) -> Cluster:
        """The broker's topics and offsets."""
        return self._scanner.cluster

    def admin(self) -> AdminClient:
        """A client that makes topics, deletes records and lists groups on the letters' brokers."""
        return AdminClient({**self.clients.admin, "log_level": 2})

    def windows(self, since: int | None = None) -> Windows:
        """The offsets of the present letters, or of those since a timestamp, by partition."""
        return self._scanner.open(self.name, Selection(since=since)).windows

    def letters(self, windows: Windows) -> Iterator[Letter]:
        """The letters at offsets, in the order of each partition."""
        return map(_letter, self._records(self.name, windows))

    def states(self, only: Collection[RecordPosition] | None = None) -> dict[RecordPosition, Replayed]:
        """The states of the replayed letters, by the letters' identity.

        Args:
            only: The letters to look for, so that no others are kept in memory; None for all.

        Raises:
            Ended: a record in the topic of states is not a state.
        """
        topic = state_topic(self.name)
        states: dict[RecordPosition, Replayed] = {}
        if not self.cluster.partitions(topic):
            return states
        for message in self._records(topic, self._scanner.open(topic, Selection()).windows):
            try:
                identity, state = read_state(message.key(), message.value())
            except ValueError as error:
                raise Ended(BAD_DATA, f"topic {topic}, {message.partition()}:{message.offset()}: {error}") from error
            if only is not None and identity not in only:
                continue
            if state is None:
                states.pop(identity, None)
            else:
                states[identity] = state
        return states

    def _records(self, topic: str, windows: Windows) -> Iterator[Message]:
        at: dict[int, int] = {}
        for batch in self._scanner.batches(topic, windows, at):
            for message in batch:
                partition, offset = message.partition() or 0, message.offset() or 0
                at[partition] = offset + 1
                if offset < windows[partition][1]:
                    yield message


def _letter(message: Message) -> Letter:
    kind, time = message.timestamp()
    key, value = (part.encode() if isinstance(part, str) else part for part in (message.key(), message.value()))
    headers: list[Header] = [
        (name, header.encode() if isinstance(header, str) else header) for name, header in message.headers() or []
    ]
    place = (str(message.topic()), message.partition() or 0, message.offset() or 0)
    return Letter(place, time if kind else None, key, value, headers)
