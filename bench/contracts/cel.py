"""Times the evaluation of typical rules beside cel-python (celpy), which confluent-kafka uses, in the same run.

    python -P bench/contracts/cel.py [--rounds 9]

Ours converts the fields that a rule reads, evaluates, and converts the result. celpy converts the whole message to its
own types, as confluent-kafka does for each message. Each round measures all rules with both; the figures are medians in
microseconds of processor time with the least and the greatest.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import celpy
from celpy.adapter import json_to_cel
from confluent_kafka.schema_registry.rules.cel.extra_func import EXTRA_FUNCS

from compat.contracts.cel.declarations import field_variables, untyped
from compat.contracts.cel.expression import compile_expression

MESSAGE: dict[str, Any] = {
    "id": 7,
    "name": "Ada",
    "mail": "ada@example.com",
    "age": 20,
    "pay": 1.5,
    "active": True,
    "nick": None,
    "tags": ["a", "b", "c"],
    "address": {"zip": "8000", "city": "Z"},
    "kind": "A",
}
FIELD = {
    "value": "ada@example.com",
    "fullName": "a.b.Person.mail",
    "name": "mail",
    "typeName": "STRING",
    "tags": ["PII"],
    "message": MESSAGE,
}
PRICE = {"message": MESSAGE | {"price": Decimal("12.50")}}
#: Rule -> variables. celpy fails on the last ones: it lacks comparisons of int with double, and has other decimals.
RULES: Mapping[str, Mapping[str, Any]] = {
    "message.age >= 18": {"message": MESSAGE},
    "message.kind == 'A' && message.age > 3": {"message": MESSAGE},
    "has(message.nick) && message.name.size() > 2": {"message": MESSAGE},
    "message.tags.exists(t, t == 'c')": {"message": MESSAGE},
    "{'id': message.id, 'name': message.name}": {"message": MESSAGE},
    "message.age >= 18 ": {"message": MESSAGE | {f"f{number}": number for number in range(1_000)}},
    "value.size() > 3": FIELD,
    "typeName == 'STRING' && value.startsWith('a')": FIELD,
    "value.isEmail()": FIELD,
    "value.matches('^a')": FIELD,
}
OURS_ALONE: Mapping[str, Mapping[str, Any]] = {
    "message.age >= 18.0": {"message": MESSAGE},
    "decimals.gt(message.price, decimal('10'))": PRICE,
    "message.tags.all(t, t.isUuid() || true)": {"message": MESSAGE},
    "now > timestamp('2020-01-01T00:00:00Z')": {"now": datetime(2026, 1, 1, tzinfo=UTC)},
}
CALLS = 2_000
CELPY_CALLS = 100


def ours(text: str, bindings: Mapping[str, Any]) -> Callable[[], Any]:
    """Our evaluation of a rule."""
    expression = compile_expression(text, field_variables() if "value" in bindings else untyped())
    return lambda: expression.evaluate(bindings)


def theirs(text: str, bindings: Mapping[str, Any]) -> Callable[[], Any]:
    """Celpy's evaluation, with the functions that confluent-kafka gives it."""
    environment = celpy.Environment(runner_class=celpy.InterpretedRunner)
    program = environment.program(environment.compile(text), functions=EXTRA_FUNCS)
    return lambda: program.evaluate({name: json_to_cel(value) for name, value in bindings.items()})


def microseconds(call: Callable[[], Any], calls: int) -> float:
    """The processor time of a call."""
    begun = time.process_time_ns()
    for _ in range(calls):
        call()
    return (time.process_time_ns() - begun) / calls / 1000


def main() -> int:
    """Measure all rules in turn, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    measured = {(text, "ours"): (ours(text, bindings), CALLS) for text, bindings in {**RULES, **OURS_ALONE}.items()}
    measured |= {(text, "celpy"): (theirs(text, bindings), CELPY_CALLS) for text, bindings in RULES.items()}
    samples: dict[tuple[str, str], list[float]] = {key: [] for key in measured}
    for _ in range(options.rounds):
        for key, (call, calls) in measured.items():
            samples[key].append(microseconds(call, calls))
    print(f"{'us per evaluation':48} {'ours':>20} {'celpy':>24} {'times':>7}")
    for text in (*RULES, *OURS_ALONE):
        figures = [samples[text, who] for who in ("ours", "celpy") if (text, who) in samples]
        shown = [f"{statistics.median(taken):.1f} ({min(taken):.1f}-{max(taken):.1f})" for taken in figures]
        ratio = f"{statistics.median(figures[1]) / statistics.median(figures[0]):.0f}" if len(figures) > 1 else ""
        print(f"{text:48} {shown[0]:>20} {(shown[1:] or ['-'])[0]:>24} {ratio:>7}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
