"""`magicbyte capacity`: the memory, disk and cores that a registry and a REST proxy need, from measured figures.

docs/capacity.md has the figures and says how they were measured.
"""

from __future__ import annotations

import json
import math
import sys
from argparse import ArgumentTypeError
from collections.abc import Callable, Sequence
from dataclasses import asdict

from magicbyte.cli.capacity.estimate import Load, Need, needs
from magicbyte.cli.capacity.figures import Figures, load
from magicbyte.kit.command_line import CommandParser

PROGRAM = "magicbyte capacity"
_OUTPUTS = ("table", "json")


def main(arguments: Sequence[str]) -> int:
    """Print what a load needs, and return the exit code."""
    options = _parser().parse_args(arguments)
    wanted = Load(options.schemas, options.rps, options.registrations, options.records, options.instances)
    figures = load()
    lines = needs(wanted, figures)
    sys.stdout.write(_json(lines, figures) if options.output == "json" else _table(lines, figures))
    return 0


def _parser() -> CommandParser:
    parser = CommandParser(
        prog=PROGRAM,
        description=__doc__,
        examples=(
            "magicbyte capacity --schemas 50000 --rps 2000",
            "magicbyte capacity --schemas 5000 --records 20000 --instances 300 --output json",
        ),
    )
    add = parser.add_argument
    add("--schemas", type=_number(int), metavar="N", required=True, help="versions in the registry")
    add("--rps", type=_number(float), metavar="R", default=0.0, help="requests a second that read from the registry")
    add("--registrations", type=_number(float), metavar="R", default=0.0, help="new schemas a second")
    add("--records", type=_number(float), metavar="R", default=0.0, help="records a second through the REST proxy")
    add("--instances", type=_number(int), metavar="N", default=0, help="consumer instances of the REST proxy")
    add("--output", choices=_OUTPUTS, default="table", help="the form of what is printed (default table)")
    return parser


def _number(kind: type[int | float]) -> Callable[[str], float]:
    def number(text: str) -> float:
        try:
            value = kind(text.replace("_", ""))
        except ValueError:
            value = -1
        if not 0 <= value < 1e12 or not math.isfinite(value):
            expected = "a whole number" if kind is int else "a number"
            raise ArgumentTypeError(f"{text!r} is not {expected} from 0 on") from None
        return value

    return number


def _table(lines: Sequence[Need], figures: Figures) -> str:
    width = max(len(line.what) for line in lines)
    rows = [
        f"{line.server:<10}  {line.what:<{width}}  {_amount(line):>9} {line.unit:<5}  {line.note}".rstrip()
        for line in lines
    ]
    machine = ", ".join(figures.machine.values())
    return "\n".join(rows) + f"\n\nmeasured on {figures.date}: {machine}; docs/capacity.md has the figures\n"


def _amount(line: Need) -> str:
    is_whole = not line.unit or (line.unit == "MB" and line.amount >= 10)
    return f"{line.amount:,.0f}" if is_whole else f"{line.amount:,.2f}"


def _json(lines: Sequence[Need], figures: Figures) -> str:
    document = {
        "measured": {"date": figures.date, "machine": dict(figures.machine)},
        "needs": [asdict(line) | {"amount": round(line.amount, 3)} for line in lines],
    }
    return json.dumps(document, indent=2) + "\n"
