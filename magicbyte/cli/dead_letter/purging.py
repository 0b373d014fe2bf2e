"""`magicbyte dead-letter purge`: deletes each partition's replayed letters, up to the first one not replayed."""

from __future__ import annotations

import argparse
import json
import sys

from confluent_kafka import KafkaException, TopicPartition

from magicbyte.cli.dead_letter.letters_topic import LettersTopic
from magicbyte.cli.dead_letter.sending import Sender, admin_client
from serdes.console.outcome import NOT_DELIVERED, OK, Ended
from serdes.letters.letter import RecordPosition


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Delete letters, and write to stdout how many."""
    del parser
    topic = LettersTopic(options)
    try:
        windows = topic.windows()
        sender = None if options.dry_run else Sender(topic)
        states = topic.states()
        #: Partition -> the offset of the first letter to keep.
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
    finally:
        topic.close()
    outcome = {"topic": topic.name, "dryRun": options.dry_run, "deleted": deleted, "offsets": firsts}
    if options.output == "json":
        sys.stdout.write(json.dumps(outcome, indent=2) + "\n")
    else:
        verb = "would be deleted" if options.dry_run else "deleted"
        sys.stdout.write(f"{topic.name}: {deleted:,} {'letter' if deleted == 1 else 'letters'} {verb}\n")
    return OK


def _delete(topic: LettersTopic, firsts: dict[int, int]) -> None:
    places = [TopicPartition(topic.name, partition, first) for partition, first in firsts.items()]
    # Keep the client alive until all its futures are done.
    admin = admin_client(topic)
    futures = admin.delete_records(places, request_timeout=topic.patience) if places else {}
    for place, future in futures.items():
        try:
            future.result()
        except KafkaException as error:
            text = f"{topic.name}: partition {place.partition} cannot be deleted from: {error.args[0].str()}"
            raise Ended(NOT_DELIVERED, text) from error
