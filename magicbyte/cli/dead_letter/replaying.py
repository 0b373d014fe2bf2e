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

from magicbyte.cli.dead_letter.main import PROGRAM
from magicbyte.cli.dead_letter.options import letters_topic, since
from magicbyte.cli.records.consume import gather_properties
from magicbyte.dead_letters.choice import DONE, Choice, NotReplayed, Scruples
from magicbyte.dead_letters.conditions import condition
from magicbyte.dead_letters.options import ReplayOptions
from magicbyte.dead_letters.sending import Sender, Sent
from serdes.client.clients import RegistryClient
from serdes.console.client import open_client
from serdes.console.outcome import OK, tell
from serdes.letters.decode import LetterDecoder
from serdes.letters.fix import Fix, as_it_is, from_script, with_schema_id
from serdes.letters.letter import Letter

#: The exit code if some letters that should be sent were not.
FINDINGS = 100
#: The most records of one transaction.
_BATCH = 500
#: The most unsent letters that are reported one by one.
_TOLD = 10


@dataclass(slots=True)
class Summary:
    """The outcome: how many letters were sent to each topic, and how many stay unsent for each reason."""

    sent: Counter[str] = field(default_factory=Counter)
    stay: Counter[str] = field(default_factory=Counter)

    def note(self, letter: Letter, refusal: NotReplayed) -> None:
        """Count a letter that is not sent, and report the reason for the first ones."""
        self.stay[refusal.reason] += 1
        told = sum(count for reason, count in self.stay.items() if reason not in DONE)
        if refusal.reason not in DONE and told <= _TOLD:
            topic, partition, offset = letter.place
            tell(PROGRAM, f"{topic} {partition}:{offset} stays, {refusal.reason}: {refusal.detail}")

    @property
    def code(self) -> int:
        """The exit code."""
        return FINDINGS if set(self.stay) - DONE else OK


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Send letters back, and write the outcome to stdout."""
    fits = condition(options.where)
    topic = letters_topic(options)
    client = cache(lambda: open_client(gather_properties(options).client, topic.clients.consumer))
    fix = _fix(options, client)
    summary = Summary()
    try:
        windows = topic.windows(since(options, parser))
        sender = None if options.dry_run else Sender(topic)
        target = None if options.to_topic == "original" else options.to_topic
        choices = ReplayOptions(target, again=options.again, max_attempts=options.max_attempts)
        scruples = Scruples(warn=lambda text: tell(PROGRAM, f"warning: {text}"))
        choice = Choice(topic, choices, scruples, fix, _decoder(options, client), topic.states())
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
