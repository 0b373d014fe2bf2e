"""`magicbyte dead-letter replay`: sends records back to the topics that they were read from, decoded first."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache

from magicbyte.cli.dead_letter.conditions import condition
from magicbyte.cli.dead_letter.letters_topic import LettersTopic, since
from magicbyte.cli.dead_letter.main import PROGRAM
from magicbyte.cli.dead_letter.readers import warning
from magicbyte.cli.dead_letter.sending import Sender, Sent
from magicbyte.cli.records.consume import gather_properties
from magicbyte.topic_ids.tally import utc
from serdes.client.clients import RegistryClient
from serdes.console.client import open_client
from serdes.console.outcome import OK, tell
from serdes.console.produce.outbox import Record
from serdes.letters.decode import PARTS, LetterDecoder
from serdes.letters.fix import Fix, NotFixed, as_it_is, from_script, with_schema_id
from serdes.letters.headers import REPLAY
from serdes.letters.letter import Letter, RecordPosition, Replayed

#: The exit code if some letters that should be sent were not.
FINDINGS = 100
#: The most records of one transaction.
_BATCH = 500
#: The most unsent letters that are reported one by one.
_TOLD = 10

FAILS = "would fail again"
BEFORE = "replayed before"
REPEATED = "written twice"
REFUSED = "replayed too often"
NOWHERE = "no topic to send to"
NOT_FIXED = "not fixed"
MASKED = "masked"
#: Reasons that mean that nothing has to be done for a letter.
_DONE = frozenset((BEFORE, REPEATED))


@dataclass(unsafe_hash=True)
class NotReplayed(Exception):
    """A letter is not sent: the reason for the summary, and the details."""

    reason: str
    detail: str


@dataclass(slots=True)
class Choice:
    """Decides for each letter which record to send.

    Attributes:
        topic: The topic of dead letters.
        options: The command's options.
        fix: Makes the key, the value and the headers to send.
        decoder: Decodes them; None with --force.
        states: Which letters were replayed.
    """

    topic: LettersTopic
    options: argparse.Namespace
    fix: Fix
    decoder: LetterDecoder | None
    states: dict[RecordPosition, Replayed]
    _now: set[RecordPosition] = field(default_factory=set)
    _partitions: dict[str, list[int]] = field(default_factory=dict)

    def sent(self, letter: Letter) -> Sent:
        """The record to send for a letter.

        Raises:
            NotReplayed: it is not sent.
        """
        state = self.states.get(letter.identity)
        if letter.identity in self._now:
            raise NotReplayed(REPEATED, "the same record is sent for an earlier letter")
        if state is not None and not self.options.again:
            raise NotReplayed(BEFORE, f"sent to {state.topic} at {utc(state.time)}; --again sends it again")
        count = letter.replays + (0 if state is None else state.count)
        if count >= self.options.max_attempts:
            raise NotReplayed(
                REFUSED, f"it was replayed {count} times, and --max-attempts is {self.options.max_attempts}"
            )
        if letter.failure is not None and letter.failure.masked:
            raise NotReplayed(MASKED, "the letter has neither key nor value; read the record at its origin")
        target, partition = self._target(letter)
        try:
            fixed = self.fix(letter)
        except NotFixed as error:
            raise NotReplayed(NOT_FIXED, str(error)) from error
        for part in PARTS:
            if self.decoder is None:
                break
            problem = self.decoder.problem(part, getattr(fixed, part), target, fixed.headers, letter.failure)
            if problem is not None:
                raise NotReplayed(FAILS, problem)
        headers = [*fixed.headers, (REPLAY, str(count + 1).encode())]
        record = Record(fixed.key, fixed.value, headers, partition, letter.original_time)
        self._now.add(letter.identity)
        times = 1 if state is None else state.count + 1
        return Sent(target, record, letter.identity, Replayed(times, int(time.time() * 1000), target))

    def _target(self, letter: Letter) -> tuple[str, int | None]:
        """The topic to send to, and the partition: the record's own in its own topic, else by the key."""
        origin = letter.origin
        if self.options.to_topic != "original":
            target, partition = self.options.to_topic, None
        elif origin is not None:
            target, partition, _ = origin
        else:
            raise NotReplayed(NOWHERE, "its headers do not say which topic it came from; name one with --to")
        partitions = self._partitions_of(target, letter)
        if not partitions:
            raise NotReplayed(NOWHERE, f"topic {target} does not exist")
        return target, partition if partition in partitions else None

    def _partitions_of(self, target: str, letter: Letter) -> list[int]:
        if target not in self._partitions:
            partitions = self._partitions[target] = self.topic.cluster.partitions(target)
            if partitions and self.options.to_topic == "original":
                failed = None if letter.failure is None else letter.failure.connector
                text = warning(self.topic, target, partitions, failed)
                if text is not None:
                    tell(PROGRAM, f"warning: {text}")
        return self._partitions[target]


@dataclass(slots=True)
class Summary:
    """The outcome: how many letters were sent to each topic, and how many stay unsent for each reason."""

    sent: Counter[str] = field(default_factory=Counter)
    stay: Counter[str] = field(default_factory=Counter)

    def note(self, letter: Letter, refusal: NotReplayed) -> None:
        """Count a letter that is not sent, and report the reason for the first ones."""
        self.stay[refusal.reason] += 1
        told = sum(count for reason, count in self.stay.items() if reason not in _DONE)
        if refusal.reason not in _DONE and told <= _TOLD:
            topic, partition, offset = letter.place
            tell(PROGRAM, f"{topic} {partition}:{offset} stays, {refusal.reason}: {refusal.detail}")

    @property
    def code(self) -> int:
        """The exit code."""
        return FINDINGS if set(self.stay) - _DONE else OK


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Send letters back, and write the outcome to stdout."""
    fits = condition(options.where)
    topic = LettersTopic(options)
    client = cache(lambda: open_client(gather_properties(options).client, topic.config))
    fix = _fix(options, client)
    summary = Summary()
    try:
        windows = topic.windows(since(options, parser))
        sender = None if options.dry_run else Sender(topic)
        choice = Choice(topic, options, fix, _decoder(options, client), topic.states())
        letters = (letter for letter in topic.letters(windows) if fits(letter))
        _send(_chosen(letters, choice, summary), sender, summary, options)
    finally:
        topic.close()
        # Print the summary after an error, too.
        if summary.sent or summary.stay or sys.exc_info()[0] is None:
            sys.stdout.write(_OUTPUTS[options.output](topic.name, summary, options))
    return summary.code


def _send(chosen: Iterator[Sent], sender: Sender | None, summary: Summary, options: argparse.Namespace) -> None:
    for batch in _batches(chosen, options.max_messages, min(_BATCH, options.rate or _BATCH)):
        began = time.monotonic()
        if sender is not None:
            sender.send(batch)
        summary.sent.update(sent.topic for sent in batch)
        if options.rate is not None and sender is not None:
            time.sleep(max(0.0, began + len(batch) / options.rate - time.monotonic()))


def _fix(options: argparse.Namespace, client: Callable[[], RegistryClient]) -> Fix:
    if options.fix_with is not None:
        return from_script(options.fix_with)
    if options.schema_id is None:
        return as_it_is
    return with_schema_id(options.schema_id, options.part, lambda schema_id: client().schema_by_id(schema_id).guid)


def _decoder(options: argparse.Namespace, client: Callable[[], RegistryClient]) -> LetterDecoder | None:
    if options.force:
        return None
    formats = {"key": options.key_format, "value": options.value_format}
    return LetterDecoder(client(), gather_properties(options).serde, formats)


def _chosen(letters: Iterator[Letter], choice: Choice, summary: Summary) -> Iterator[Sent]:
    for letter in letters:
        try:
            yield choice.sent(letter)
        except NotReplayed as refusal:
            summary.note(letter, refusal)


def _batches(chosen: Iterator[Sent], limit: int | None, size: int) -> Iterator[list[Sent]]:
    left = limit
    batch: list[Sent] = []
    for sent in chosen:
        batch.append(sent)
        if left is not None:
            left -= 1
        if len(batch) == size or left == 0:
            yield batch
            batch = []
        if left == 0:
            return
    if batch:
        yield batch


def _text(topic: str, summary: Summary, options: argparse.Namespace) -> str:
    verb = "would be sent" if options.dry_run else "sent"
    total = sum(summary.sent.values())
    lines = [f"{topic}: {total:,} {'letter' if total == 1 else 'letters'} {verb}"]
    lines += [f"  {count:,} to {target}" for target, count in sorted(summary.sent.items())]
    lines += [f"  {count:,} stay: {reason}" for reason, count in sorted(summary.stay.items())]
    return "".join(f"{line}\n" for line in lines)


def _json(topic: str, summary: Summary, options: argparse.Namespace) -> str:
    outcome = {"topic": topic, "dryRun": options.dry_run, "sent": dict(summary.sent), "stay": dict(summary.stay)}
    return json.dumps(outcome, indent=2) + "\n"


_OUTPUTS = {"text": _text, "json": _json}
