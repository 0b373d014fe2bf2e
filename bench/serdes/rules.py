"""Rules beside confluent-kafka's, on the same messages in one run: microseconds per message.

The messages are Avro records of ten fields. Every row is measured in rounds that take turns; the figures are the median
of the rounds, the cost over the same library without rules, and the median of the ratios to confluent-kafka within a
turn. A schema whose rules are all disabled has to cost what a schema without rules costs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter
from typing import Any

import confluent_kafka.schema_registry as theirs
from confluent_kafka.schema_registry import avro as their_avro
from confluent_kafka.schema_registry.rules.cel.cel_executor import CelExecutor
from confluent_kafka.schema_registry.rules.cel.cel_field_executor import CelFieldExecutor

import serdes
from compat.schema import SchemaText
from magicbyte.testing import running_registry

_SCALARS = {
    "customer": "string",
    "country": "string",
    "paid": "boolean",
    "total": "double",
    "quantity": "int",
    "weight": "float",
    "state": "string",
    "at": "long",
}
SCHEMA = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "namespace": "bench",
        "fields": [
            {"name": "id", "type": "long"},
            {"name": "email", "type": "string", "confluent:tags": ["PII"]},
            *({"name": name, "type": type_name} for name, type_name in _SCALARS.items()),
        ],
    }
)
DATUM: dict[str, Any] = {
    "id": 1234567,
    "email": "ada@example.com",
    "customer": "Ada Lovelace",
    "country": "GB",
    "paid": True,
    "total": 99.5,
    "quantity": 3,
    "weight": 1.5,
    "state": "SENT",
    "at": 1_700_000_000_000,
}
FIELD = {"name": "rule", "kind": "CONDITION", "mode": "WRITEREAD", "type": "CEL_FIELD", "tags": ["PII"]}
CEL = {"name": "rule", "kind": "CONDITION", "mode": "WRITEREAD", "type": "CEL", "expr": "message.quantity > 0"}
RULES: dict[str, dict[str, Any]] = {
    "no rules": {},
    "rules that are disabled": {**CEL, "disabled": True},
    "CEL": CEL,
    "CEL_FIELD, one of ten fields": {**FIELD, "expr": "value.contains('@')"},
    "CEL_FIELD, a transformation": {**FIELD, "kind": "TRANSFORM", "expr": "value + '!'"},
    "REDACT": {"name": "rule", "kind": "TRANSFORM", "mode": "WRITEREAD", "type": "REDACT", "tags": ["PII"]},
}
#: The most microseconds over a message without rules.
LIMITS = {"rules that are disabled": 0.1, "CEL": 15.0, "CEL_FIELD, one of ten fields": 12.0}
#: How many times faster than confluent-kafka.
FASTER = {"CEL": 10.0, "CEL_FIELD, one of ten fields": 10.0}
#: Confluent-kafka runs REDACT in its action DLQ only.
OURS_ALONE = frozenset({"REDACT"})


@dataclass
class Row:
    """One way to do one thing."""

    operation: str
    rule: str
    call: Callable[[], object]
    rounds: list[float] = field(default_factory=list)

    def run(self, seconds: float) -> None:
        """One round: as many calls as fit into the time."""
        call, done = self.call, 0
        start = perf_counter()
        while (now := perf_counter()) < start + seconds:
            for _ in range(50):
                call()
            done += 50
        self.rounds.append((now - start) / done * 1e6)


def rows_of(url: str, name: str, rule: dict[str, Any]) -> tuple[list[Row], list[Row]]:
    """The rows of a rule: ours, and confluent-kafka's."""
    ours, other = serdes.SchemaRegistryClient({"url": url}), theirs.SchemaRegistryClient({"url": url})
    topic = name.replace(" ", "-").replace(",", "")
    context = serdes.SerializationContext(topic, "value")
    rule_set = {"domainRules": [rule]} if rule else None
    with serdes.RegistryClient(url) as client:
        client.register(f"{topic}-value", SchemaText("AVRO", SCHEMA), rule_set=rule_set)
    conf = {"auto.register.schemas": False, "use.latest.version": True}
    write, read = serdes.AvroSerializer(ours, conf=conf), serdes.AvroDeserializer(ours)
    message = write(DATUM, context)
    read(message, context)
    mine = [
        Row("write", name, lambda: write(DATUM, context)),
        Row("read", name, lambda: read(message, context)),
    ]
    if name in OURS_ALONE:
        return mine, []
    their_write = their_avro.AvroSerializer(other, conf=conf)
    their_read = their_avro.AvroDeserializer(other)
    assert their_write(DATUM, context) == message
    assert their_read(message, context) == read(message, context)
    return mine, [
        Row("write", name, lambda: their_write(DATUM, context)),
        Row("read", name, lambda: their_read(message, context)),
    ]


def show(ours: list[Row], other: list[Row]) -> bool:
    """Prints the table; returns whether every goal is met."""
    met = True
    print(f"{'':6} {'':32} {'us':>7} {'over none':>10} {'confluent':>10} {'times':>7}  goal")
    plain = {row.operation: row for row in ours if row.rule == "no rules"}
    pairs = {(row.operation, row.rule): row for row in other}
    for row in sorted(ours, key=lambda row: row.operation, reverse=True):
        over = median(own - none for own, none in zip(row.rounds, plain[row.operation].rounds, strict=True))
        beside = pairs.get((row.operation, row.rule))
        times = median(b / own for own, b in zip(row.rounds, beside.rounds, strict=True)) if beside else 0.0
        limit, faster = LIMITS.get(row.rule), FASTER.get(row.rule)
        goals = [f"<= {limit} us" if limit else "", f">= {faster:.0f} times" if faster else ""]
        missed = (limit is not None and over > limit) or (faster is not None and times < faster)
        met = met and not missed
        shown = f"{median(beside.rounds):10.1f} {times:7.1f}" if beside else f"{'':10} {'':7}"
        verdict = " ".join(filter(None, goals)) + (" MISSED" if missed else "")
        print(f"{row.operation:6} {row.rule:32} {median(row.rounds):7.2f} {over:10.2f} {shown}  {verdict}")
    return met


def main() -> int:
    """Measures all rows; returns 1 if a goal is missed and `--strict` is given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--seconds", type=float, default=0.02, help="per row and round")
    parser.add_argument("--strict", action="store_true", help="exit 1 if a goal is missed")
    arguments = parser.parse_args()
    CelExecutor.register()
    CelFieldExecutor.register()
    with running_registry() as registry:
        made = [rows_of(registry.url, name, rule) for name, rule in RULES.items()]
    ours = [row for mine, _ in made for row in mine]
    other = [row for _, beside in made for row in beside]
    for _ in range(arguments.rounds):
        for row in (*ours, *other):
            row.run(arguments.seconds)
    met = show(ours, other)
    return 1 if arguments.strict and not met else 0


if __name__ == "__main__":
    sys.exit(main())
