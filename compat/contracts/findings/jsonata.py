"""Checks of JSONATA: the expressions parse, and do not depend on how unions look in JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from compat.contracts.findings.contract import MIGRATION, Contract, PlacedRule, SchemaVersion
from compat.contracts.findings.finding import Finding
from compat.contracts.findings.paths import paths_of
from compat.json.json_text import position

_FORM = "magicbyte.migration.avro.json"


def jsonata_findings(placed: PlacedRule, contract: Contract) -> Iterator[Finding]:
    """The findings about the expression of a rule of type JSONATA."""
    try:
        from jsonata import JException, Jsonata  # noqa: PLC0415  few rules need it
    except ImportError:
        remedy = "install the extra: pip install 'magicbyte[rules]'"
        yield placed.warn("not-checked", "the expression was not checked: JSONATA is not installed", remedy, "expr")
        return
    text = placed.rule.expr or ""
    try:
        tree = Jsonata(text).ast
    except JException as error:
        offset = min(max(int(getattr(error, "location", 0) or 0) - 1, 0), len(text))
        found = position(text, offset)
        at = found.line, found.column
        yield placed.refuse("jsonata-syntax", _lower(str(error)), "correct the expression", "expr", at)
        return
    except RecursionError:
        yield placed.refuse("jsonata-syntax", "the expression is nested too deeply", "make it simpler", "expr")
        return
    except Exception as error:  # noqa: BLE001  the parser raises errors of Python for some texts
        kind = type(error).__name__
        yield placed.refuse("jsonata-syntax", f"the parser fails with {kind}", "correct the expression", "expr")
        return
    if not placed.rule.disabled and _FORM not in contract.parameters(placed.rule):
        yield from _unions(placed, contract, tree)


def _unions(placed: PlacedRule, contract: Contract, tree: Any) -> Iterator[Finding]:
    unions = frozenset[str]().union(*(_union_fields(version) for version in _inputs(placed, contract)))
    if not unions:
        return
    for name in sorted(_names(tree) & unions):
        yield placed.warn(
            "jsonata-union",
            f"the field {name} is a union: Java shows its value under the name of the branch, other clients without",
            f"set {_FORM}=tagged to have Java's form here too, or plain to keep this one",
            "expr",
        )


def _inputs(placed: PlacedRule, contract: Contract) -> list[SchemaVersion]:
    before = [] if contract.previous is None or placed.phase != MIGRATION else [contract.previous]
    return {"UPGRADE": before, "UPDOWN": [*before, contract.version]}.get(placed.rule.mode or "", [contract.version])


def _union_fields(version: SchemaVersion) -> frozenset[str]:
    union_fields = getattr(paths_of(version), "union_fields", None)
    return union_fields() if union_fields is not None else frozenset()


def _names(tree: Any) -> set[str]:
    """The names of fields in an expression."""
    names: set[str] = set()
    seen: set[int] = set()
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if id(node) in seen or node is None or isinstance(node, str | int | float | bool):
            continue
        seen.add(id(node))
        if isinstance(node, list | tuple):
            waiting += node
        elif hasattr(node, "type") and hasattr(node, "__dict__"):
            if node.type == "name" and isinstance(node.value, str):
                names.add(node.value)
            waiting += [part for name, part in vars(node).items() if not name.startswith("_")]
    return names


def _lower(text: str) -> str:
    line = text.splitlines()[0] if text else "it does not parse"
    return line[:1].lower() + line[1:]
