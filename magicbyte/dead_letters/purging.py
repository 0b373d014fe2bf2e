"""Deletes each partition's replayed letters, up to the first one not replayed, and the notes of deleted letters."""

from __future__ import annotations

from dataclasses import dataclass

from confluent_kafka import KafkaException, TopicPartition

from magicbyte.dead_letters.letters_topic import LettersTopic
from magicbyte.dead_letters.sending import Sender
from serdes.console.outcome import NOT_DELIVERED, Ended
from serdes.letters.letter import RecordPosition


@dataclass(frozen=True, slots=True)
class Purged:
    """The outcome of a purge.

    Attributes:
        deleted: How many letters were deleted, or would be.
        firsts: By partition the offset of the first letter that is kept.
    """

    deleted: int
    firsts: dict[int, int]


def purge(topic: LettersTopic, *, dry_run: bool) -> Purged:
    """Delete replayed letters from the beginning of each partition.

    Raises:
        Ended: the brokers refuse, or another replay or purge took over.
    """
    windows = topic.windows()
    sender = None if dry_run else Sender(topic)
    states = topic.states()
    firsts = {partition: end for partition, (_, end) in windows.items()}
    deleted, kept = 0, set[RecordPosition]()
    for letter in topic.letters(windows):
        partition, offset = letter.place[1:]
        if letter.identity in states and offset < firsts[partition]:
            deleted += 1
        else:
            firsts[partition] = min(firsts[partition], offset)
            kept.add(letter.identity)
    if sender is not None:
        _delete(topic, {partition: first for partition, first in firsts.items() if first > windows[partition][0]})
        sender.forget([identity for identity in states if identity not in kept])
    return Purged(deleted, firsts)


def _delete(topic: LettersTopic, firsts: dict[int, int]) -> None:
    places = [TopicPartition(topic.name, partition, first) for partition, first in firsts.items()]
    # Keep the client alive until all its futures are done.
    admin = topic.admin()
    futures = admin.delete_records(places, request_timeout=topic.patience) if places else {}
    for place, future in futures.items():
        try:
            future.result()
        except KafkaException as error:
            text = f"{topic.name}: partition {place.partition} cannot be deleted from: {error.args[0].str()}"
            raise Ended(NOT_DELIVERED, text) from error
