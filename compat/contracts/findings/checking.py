"""All checks of a contract."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from compat.contracts.findings.contract import Contract, PlacedRule
from compat.contracts.findings.fields import field_findings
from compat.contracts.findings.finding import Finding, Severity
from compat.contracts.findings.structure import structure_findings
from compat.schema import InvalidSchema

#: Texts that are longer than an expression that people write; the parsers take their time for them.
LONGEST_EXPRESSION = 100_000


def check_rules(contract: Contract) -> tuple[Finding, ...]:
    """Find errors and probable mistakes in a rule set; findings that refuse it come first.

    Args:
        contract: The rule set with the schema that it is for.
    """
    findings = [*structure_findings(contract), *_expressions(contract)]
    try:
        findings += field_findings(contract)
    except InvalidSchema:
        pass  # the schema has errors of its own
    except RecursionError:
        findings.append(
            Finding(
                "not-checked",
                Severity.WARN,
                None,
                "schema",
                "tags were not checked: the schema is nested too deeply",
                "make the schema simpler",
            )
        )
    return tuple(sorted(dict.fromkeys(findings), key=lambda finding: finding.severity is Severity.WARN))


def _cel(placed: PlacedRule, contract: Contract) -> Iterator[Finding]:
    from compat.contracts.findings.cel import cel_findings  # noqa: PLC0415  it loads the engine of CEL

    return cel_findings(placed, contract)


def _jsonata(placed: PlacedRule, contract: Contract) -> Iterator[Finding]:
    from compat.contracts.findings.jsonata import jsonata_findings  # noqa: PLC0415  it loads JSONATA

    return jsonata_findings(placed, contract)


_LANGUAGES: Mapping[str, Callable[[PlacedRule, Contract], Iterator[Finding]]] = {
    "CEL": _cel,
    "CEL_FIELD": _cel,
    "JSONATA": _jsonata,
}


def _expressions(contract: Contract) -> Iterator[Finding]:
    for placed in contract.rules:
        check = _LANGUAGES.get(placed.type)
        if check is None or placed.type in {name.upper() for name in contract.extra_types}:
            continue
        text = placed.rule.expr or ""
        if not text.strip():
            yield placed.refuse("no-expression", "the rule has no expression", "give it one in expr", "expr")
        elif len(text) > LONGEST_EXPRESSION:
            yield placed.refuse(
                "no-expression",
                f"the expression has {len(text)} characters",
                f"write it in at most {LONGEST_EXPRESSION} characters",
                "expr",
            )
        else:
            contract.spend(len(text))
            yield from check(placed, contract)
