"""Breaks that the configuration declares: the findings they allow, and the expired declarations."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from magicbyte.check.config.config import Config, Declaration
from magicbyte.check.config.patterns import matches
from magicbyte.check.findings import Finding


def declare(findings: Iterable[Finding], config: Config, today: dt.date) -> tuple[list[Finding], list[Finding]]:
    """Split findings into those that the configuration declares, and the others."""
    declared, left = [], []
    for finding in findings:
        fitting = [declaration for declaration in config.declarations if _fits(declaration, finding)]
        holding = [declaration for declaration in fitting if declaration.until >= today]
        if holding:
            declared.append(replace(finding, declared=f"{holding[0].reason} (until {holding[0].until})"))
        elif fitting:
            over = f"{finding.message} It was declared until {fitting[-1].until}, which is over."
            left.append(replace(finding, message=over))
        else:
            left.append(finding)
    return declared, left


def _fits(declaration: Declaration, finding: Finding) -> bool:
    return (
        matches(declaration.rule, finding.rule)
        and matches(declaration.subject, finding.subject or "")
        and matches(declaration.path, finding.path)
    )


def expired(declarations: Sequence[Declaration], findings: Sequence[Finding], today: dt.date) -> Iterator[str]:
    """A sentence for each expired declaration that matches no finding."""
    for declaration in declarations:
        if declaration.until < today and not any(_fits(declaration, finding) for finding in findings):
            declared = f"the declared break {declaration.rule} of {declaration.subject}"
            yield f"{declared} is over since {declaration.until}: take it out"
