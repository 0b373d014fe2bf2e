"""`magicbyte rules dry-run`: tries rules on the retained records of a topic, and counts the failures."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from magicbyte.cli.flags import kafka_properties
from magicbyte.cli.records.consume import gather_properties, milliseconds
from magicbyte.cli.records.rule_plans import registered
from magicbyte.cli.rules.ruled_schema import rules_of_file
from magicbyte.cli.rules.written_data import DataReader
from magicbyte.cli.tables import aligned
from magicbyte.kit.failure import Failure
from magicbyte.kit.kafka.client_settings import may_be_topic
from serdes.console.client import open_client
from serdes.console.consume.loop import Records, Selection
from serdes.console.consume.start import OFFSET_BEGINNING, Start
from serdes.console.kafka import consumer_config, take_patience
from serdes.console.outcome import BAD_DATA, OK
from serdes.console.produce.rule_letters import no_letters
from serdes.error import SerdesError
from serdes.rules.context import Message, Ruled
from serdes.rules.error import RuleFailed
from serdes.rules.plan import Plan, rules_plan
from serdes.rules.settings import Override, RuleSettings, executor_settings, split_settings

PROGRAM = "magicbyte rules dry-run"
_NEWEST = 1000


@dataclass(slots=True)
class Tally:
    """Counts of the records, and of the failures by rule and path with their first offsets."""

    most_offsets: int
    records: int = 0
    passed: int = 0
    failures: Counter[tuple[str, str]] = field(default_factory=Counter)
    offsets: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def fail(self, rule: str, path: str, place: str) -> None:
        """Count a failure."""
        key = (rule, path)
        self.failures[key] += 1
        places = self.offsets.setdefault(key, [])
        if len(places) < self.most_offsets:
            places.append(place)


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Write the counts; returns 1 if a record fails."""
    if not may_be_topic(options.topic):
        parser.error(f"--topic: {options.topic!r} is no topic's name")
    if options.last is not None and options.since is not None:
        parser.error("--last and --from exclude each other")
    kafka = kafka_properties(options)
    patience = take_patience(kafka)
    kafka.setdefault("fetch.max.wait.ms", "10")
    config = consumer_config(options.bootstrap_servers, kafka, group="magicbyte-rules", committing=False)
    since = None if options.since is None else milliseconds(options.since, "--from", parser)
    selection = Selection(
        options.topic,
        start=Start(OFFSET_BEGINNING) if since is None else Start(timestamp=since),
        last=None if since is not None else options.last or _NEWEST,
        until_end=True,
    )
    settings = gather_properties(options)
    client = open_client(settings.client, config)
    ruled = _ruled(registered(client, options.subject), options.rules)
    plan = rules_plan(ruled, options.mode, _strict(settings.serde, options.environment))
    if not plan:
        raise Failure(f"{ruled.name} has no rules for {options.mode} at {options.environment}")
    reader = DataReader(client, ruled.schema.schema_type)
    tally = Tally(options.examples)
    records = Records(PROGRAM, config, selection, patience)
    records.begin()
    try:
        for batch in [records.newest(selection.last)] if selection.last else records:
            for record in batch:
                _try(record, plan, ruled, reader, tally)
    finally:
        records.close()
    sys.stdout.write(_as_json(tally, plan) if options.output == "json" else _as_text(tally, plan, ruled))
    return BAD_DATA if tally.failures else OK


def _ruled(latest: Ruled, file: str | None) -> Ruled:
    if file is None:
        return latest
    rule_set, metadata = rules_of_file(Path(file))
    return replace(latest, rule_set=rule_set, metadata=metadata or latest.metadata)


def _strict(conf: Any, environment: str) -> RuleSettings:
    """The settings with which each rule that fails says so, and sends nothing."""
    given = executor_settings(split_settings(conf)[0])
    overrides = {name: replace(override, on_failure="ERROR") for name, override in given.overrides.items()}
    default = replace(overrides.get("_default_", Override()), on_failure="ERROR", on_success="NONE")
    settings = replace(given, environment=environment, overrides={**overrides, "_default_": default})
    return settings.with_letters_by(no_letters)


def _try(record: Any, plan: Plan, ruled: Ruled, reader: DataReader, tally: Tally) -> None:
    data = record.value()
    if data is None:
        return
    tally.records += 1
    place = f"{record.partition()}:{record.offset()}"
    try:
        datum = reader.datum(data, record.topic(), record.headers())
    except SerdesError as error:
        tally.fail("(not decoded)", type(error).__name__, place)
        return
    message = Message(ruled.subject or "", record.topic(), False, record.headers(), datum)
    has_failed = False
    for step in plan.steps:
        try:
            datum = step(datum, message)
        except RuleFailed as failure:
            has_failed = True
            tally.fail(failure.rule, failure.path, place)
    tally.passed += not has_failed


def _as_json(tally: Tally, plan: Plan) -> str:
    failures = [
        {"rule": rule, "path": path, "records": count, "offsets": tally.offsets[rule, path]}
        for (rule, path), count in tally.failures.most_common()
    ]
    names = [step.context.rule.name for step in plan.steps]
    return json.dumps({"records": tally.records, "passed": tally.passed, "rules": names, "failures": failures}) + "\n"


def _as_text(tally: Tally, plan: Plan, ruled: Ruled) -> str:
    names = ", ".join(step.context.rule.name or "" for step in plan.steps)
    lines = [f"{tally.records} records, rules of {ruled.name}: {names}", f"{tally.passed} pass"]
    if tally.failures:
        head = ("RULE", "PATH", "RECORDS", "FIRST OFFSETS")
        rows = [
            (rule, path, str(count), ", ".join(tally.offsets[rule, path]))
            for (rule, path), count in tally.failures.most_common()
        ]
        lines += aligned([head, *rows], right={2})
    return "".join(f"{line}\n" for line in lines)
