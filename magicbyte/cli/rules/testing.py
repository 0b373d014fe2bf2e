"""`magicbyte rules test`: carries rules out on the messages of a file, and compares the outcomes."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from time import perf_counter

from magicbyte.cli.rules.cases import Expected, read_cases
from magicbyte.cli.rules.ruled_schema import client_and_settings
from magicbyte.cli.rules.trial import Outcome, Trial
from magicbyte.cli.tables import aligned
from magicbyte.kit.failure import Failure
from serdes.console.outcome import BAD_DATA, OK
from serdes.error import SerdesError

_HEAD = ("", "CASE", "SUBJECT", "MODE", "OUTCOME", "EXPECTED", "US")
_RUNS = 20


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:  # noqa: ARG001  the signature of all
    """Write a table of the cases; returns 1 if an outcome is not the expected one."""
    client, conf = client_and_settings(options)
    rows, explanations = [_HEAD], list[str]()
    cases = list(read_cases(Path(options.cases), client))
    for case in cases:
        try:
            trial = Trial(case, conf, client)
            outcome = trial.run()
            cost = _cost(trial)
        except (Failure, SerdesError) as error:
            outcome, cost = Outcome("?", "", str(error)), ""
        is_right = matches(outcome, case.expected)
        mark = "ok" if is_right else "FAILED"
        subject = case.ruled.subject or case.ruled.name
        rows.append((mark, case.name, subject, case.mode, shown(outcome), _expected_text(case.expected), cost))
        if not is_right:
            explanations.append(
                f"{case.name}: {outcome.text or 'got ' + json.dumps(outcome.result, ensure_ascii=False)}"
            )
    sys.stdout.write("".join(f"{line}\n" for line in aligned(rows, right={6})))
    sys.stdout.write("".join(f"{line}\n" for line in explanations))
    wrong = len(explanations)
    sys.stdout.write(f"{len(cases) - wrong} of {len(cases)} cases as expected\n")
    return BAD_DATA if wrong else OK


def matches(outcome: Outcome, expected: Expected) -> bool:
    """Whether an outcome is the expected one."""
    if expected.fails is not None:
        return outcome.rule == expected.fails and expected.at in (None, outcome.path)
    return outcome.rule is None and (not expected.has_result or outcome.result == expected.result)


def shown(outcome: Outcome) -> str:
    """An outcome in a table."""
    if outcome.rule is None:
        return "pass"
    at = f" at {outcome.path}" if outcome.path else ""
    return f"fails: {outcome.rule}{at}"


def _expected_text(expected: Expected) -> str:
    if expected.fails is not None:
        return shown(Outcome(expected.fails, expected.at or ""))
    return "result" if expected.has_result else "pass"


def _cost(trial: Trial) -> str:
    """The microseconds of all rules on the message, with its encoding and decoding."""
    started = perf_counter()
    for _ in range(_RUNS):
        trial.run()
    return f"{(perf_counter() - started) / _RUNS * 1e6:.0f}"
