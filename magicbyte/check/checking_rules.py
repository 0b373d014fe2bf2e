"""Checks the rules beside a schema file; see `compat.contracts.findings`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from compat.contracts.findings import Contract, check_rules
from compat.contracts.findings import Finding as RuleFinding
from compat.contracts.findings.contract import SchemaVersion
from compat.contracts.findings.finding import Severity
from compat.schema import SchemaText
from magicbyte.check.baselines.baseline import Earlier
from magicbyte.check.config.config import Config
from magicbyte.check.findings import ERROR, WARNING, Finding
from magicbyte.check.project.files import SchemaFile
from magicbyte.check.project.rule_file import RuleFile, rule_file_of
from magicbyte.check.project.tree import Tree


def rule_findings(config: Config, tree: Tree, file: SchemaFile, versions: Sequence[Earlier]) -> Iterator[Finding]:
    """The findings about the rules of a schema file; none if it has no rules.

    Args:
        config: The project.
        tree: The files.
        file: The schema file.
        versions: The earlier versions, oldest first.

    Raises:
        Failure: the configuration names a rule file that does not exist, or the file cannot be read.
    """
    rules = rule_file_of(config, file)
    if isinstance(rules, Finding):
        yield rules
        return
    if rules is None:
        return
    earlier = tuple(SchemaVersion(version.schema, version.dependencies) for version in versions)
    contract = Contract(
        SchemaVersion(SchemaText(file.schema_type, file.text), tree.dependencies(file)),
        rules.rule_set,
        rules.metadata,
        earlier[-1] if earlier else None,
        earlier,
        frozenset(config.rules_types),
    )
    for found in check_rules(contract):
        yield _finding(found, file, rules)


def _finding(found: RuleFinding, file: SchemaFile, rules: RuleFile) -> Finding:
    rule = "" if found.rule is None else f"Rule {found.rule!r}: "
    line = "" if found.line is None else f" (line {found.line}, column {found.column} of the expression)"
    text = found.text if rule else f"{found.text[0].upper()}{found.text[1:]}"
    return Finding(
        rule_name(found.code),
        rules.path,
        rules.position(found.place),
        f"{rule}{text}{line}.",
        f"{found.remedy[0].upper()}{found.remedy[1:]}.",
        severity=ERROR if found.severity is Severity.REFUSE else WARNING,
        subject=file.subject,
        path=f"/{found.place}",
    )


def rule_name(code: str) -> str:
    """The name of a check of rule sets among the rules of `magicbyte check`."""
    return f"RULES_{code.upper().replace('-', '_')}"
