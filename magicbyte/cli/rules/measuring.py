"""`magicbyte rules bench`: the microseconds that each rule takes on the messages of a file of cases."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

from magicbyte.cli.rules.cases import read_cases
from magicbyte.cli.rules.ruled_schema import client_and_settings
from magicbyte.cli.rules.trial import Trial
from magicbyte.cli.tables import aligned
from serdes.console.outcome import OK
from serdes.rules.context import Message
from serdes.rules.error import RuleFailed
from serdes.rules.plan import Step

_HEAD = ("CASE", "RULE", "TYPE", "MODE", "US A MESSAGE", "MESSAGES")


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Write a table of the rules; returns the exit code."""
    if options.seconds <= 0:
        parser.error("--seconds must be more than 0")
    client, conf = client_and_settings(options)
    rows = [_HEAD]
    for case in read_cases(Path(options.cases), client):
        trial = Trial(case, conf, client)
        for step, microseconds, count in measured(trial, options.seconds):
            context = step.context
            rows.append(
                (case.name, context.rule.name or "", context.type, context.mode, f"{microseconds:.1f}", str(count))
            )
    sys.stdout.write("".join(f"{line}\n" for line in aligned(rows, right={4, 5})))
    return OK


def measured(trial: Trial, seconds: float) -> Iterator[tuple[Step, float, int]]:
    """The rules on the datum, each on the result of the one before: its time in microseconds, and how often it ran."""
    if not trial.rules:
        return
    datum = trial.datum()
    datum = getattr(datum, "datum", datum)
    message = trial.message()
    for step in trial.rules:
        count, started = 0, perf_counter()
        while perf_counter() - started < seconds:
            result = _once(step, datum, message)
            count += 1
        yield step, (perf_counter() - started) / count * 1e6, count
        datum = result


def _once(step: Step, datum: Any, message: Message) -> Any:
    try:
        return step(datum, message)
    except RuleFailed:
        return datum
