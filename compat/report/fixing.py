"""Selects the fixes to offer: those that improve the verdict and break nothing else."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from itertools import islice

from compat.budget import Budget, TooMuchWork
from compat.difference import Incomparable, Judged
from compat.formats import FORMATS
from compat.level import Level, Policy
from compat.report.edits import Fix, apply_edits
from compat.report.finding import Finding
from compat.schema import InvalidSchema, ParsedSchema

#: How many fixes are tried, and how many offered, for one finding.
_MOST_TRIED = 6
_MOST_OFFERED = 3
#: How many characters of an edited text cost one step; this covers parsing it and locating its faults.
_CHARACTERS_A_STEP = 1

#: The rule, path and direction of a break.
_Key = tuple[str, str, str]


def fixes_of(finding: Finding, budget: Budget) -> tuple[Fix, ...]:
    """The fixes for a finding; none once the budget is spent.

    Each fix was tried: the edited text is a valid schema, the finding is gone, and no rule breaks more often than
    before.
    """
    new, old = finding.new, finding.old
    schema_format = FORMATS[new.schema_type]
    difference = finding.difference
    rules = {**schema_format.rules, **schema_format.caution_rules}
    if old is None or budget.is_spent or difference.rule.name not in rules:
        return ()
    offered: list[Fix] = []
    try:
        before, steps = _breaks_before(new, old, finding.level, finding.policy)  # type: ignore[arg-type]  # by identity
        budget.spend(steps // 2)
        fixes = schema_format.fixes(difference, new, old, new_reads_old=finding.direction.new_reads_old)
        for fix in islice(fixes, _MOST_TRIED):
            if _mends(fix, finding, old, before, budget):
                offered.append(fix)
            if len(offered) == _MOST_OFFERED:
                break
    except TooMuchWork:
        pass
    return tuple(offered)


def _mends(fix: Fix, finding: Finding, old: ParsedSchema, before: Counter[_Key], budget: Budget) -> bool:
    try:
        text = apply_edits(finding.new.source, fix.edits)
    except ValueError:
        # The edits of two causes may be at the same place.
        return False
    budget.spend(len(text) // _CHARACTERS_A_STEP)
    try:
        edited = FORMATS[finding.new.schema_type].edited(finding.new, text)
        after = _breaks(edited, old, finding.level, finding.policy, budget)
        if finding.policy in finding.difference.rule.allowed:
            return after <= before and _clears(finding, edited, old, budget)
    except (InvalidSchema, Incomparable):
        return False
    key = (finding.difference.rule.name, finding.difference.path, finding.direction.name)
    fewer = sum(after.values()) < sum(before.values()) and after[key] < before[key]
    return fewer and _by_rule(after) <= _by_rule(before)


def _clears(finding: Finding, edited: ParsedSchema, old: ParsedSchema, budget: Budget) -> bool:
    """Whether the edited schema no longer causes the caution."""
    new_reads_old = finding.direction.new_reads_old
    reader, writer = (edited, old) if new_reads_old else (old, edited)
    caution = finding.difference
    judged = Judged(reader, writer, is_compatible=True, new_reads_old=new_reads_old)
    cautions = FORMATS[edited.schema_type].cautions(judged, budget)
    return all((other.rule, other.path) != (caution.rule, caution.path) for other in cautions)


def _by_rule(breaks: Counter[_Key]) -> Counter[tuple[str, str]]:
    rules: Counter[tuple[str, str]] = Counter()
    for (rule, _, direction), count in breaks.items():
        rules[rule, direction] += count
    return rules


@lru_cache(maxsize=4)
def _breaks_before(new: ParsedSchema, old: ParsedSchema, level: Level, policy: Policy) -> tuple[Counter[_Key], int]:
    """The breaks without any edit, and the cost in steps; cached because all findings of a pair share them."""
    budget = Budget()
    before = budget.steps_left
    try:
        return _breaks(new, old, level, policy, budget), before - budget.steps_left
    except (TooMuchWork, Incomparable, InvalidSchema):
        return Counter(), before


def _breaks(new: ParsedSchema, old: ParsedSchema, level: Level, policy: Policy, budget: Budget) -> Counter[_Key]:
    breaks: Counter[_Key] = Counter()
    for direction in level.directions:
        reader, writer = (new, old) if direction.new_reads_old else (old, new)
        for difference in FORMATS[new.schema_type].differences(reader, writer, budget):
            if policy not in difference.rule.allowed:
                breaks[difference.rule.name, difference.path, direction.name] += 1
    return breaks
