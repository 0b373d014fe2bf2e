"""Selects the fixes to offer: those that improve the verdict and break nothing else."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable
from dataclasses import replace
from functools import lru_cache
from itertools import islice

from compat.budget import Budget, TooMuchWork
from compat.difference import Incomparable, Judged, NotExamined
from compat.edits import Fix, apply_edits
from compat.formats import FORMATS
from compat.level import Level, Policy
from compat.report.finding import Finding
from compat.schema import InvalidSchema, ParsedSchema

#: How many fixes are tried, and how many offered, for one finding.
_MOST_TRIED = 6
_MOST_OFFERED = 3
#: How many characters of an edited text cost one step; this covers parsing it and locating its faults.
_CHARACTERS_A_STEP = 1

_LINE_BREAK = re.compile(r"\r?\n")

#: The rule, path and direction of a break.
_Key = tuple[str, str, str]


class OtherVersions:
    """The versions that a level compares with, on which a fix for one of them has to stand as well.

    Each is parsed, and compared with the new schema, once at most.
    """

    def __init__(self, parsers: Iterable[Callable[[], ParsedSchema]], level: Level, policy: Policy) -> None:
        """Prepare the trials.

        Args:
            parsers: Return the parsed versions, or raise InvalidSchema.
            level: The level, whose directions count.
            policy: How strictly differences are judged.
        """
        self._parsers = tuple(parsers)
        self._level = level
        self._policy = policy
        self._parsed: dict[int, ParsedSchema | None] = {}
        self._before: dict[tuple[int, int], Counter[tuple[str, str]]] = {}

    def stand(self, new: ParsedSchema, edited: ParsedSchema, known: ParsedSchema, budget: Budget) -> bool:
        """Whether the edited schema has no rule reported more often than the new one, on each version.

        Args:
            new: The new schema.
            edited: The new schema with the fix.
            known: The version on which the fix was tried already.
            budget: Pays for the comparisons.

        Raises:
            TooMuchWork: The comparisons exceed the budget.
        """
        return all(self._stands_on(index, new, edited, known, budget) for index in range(len(self._parsers)))

    def _stands_on(
        self, index: int, new: ParsedSchema, edited: ParsedSchema, known: ParsedSchema, budget: Budget
    ) -> bool:
        old = self._version(index, budget)
        if old is None or old is known or old.schema_type != new.schema_type:
            return True
        key = (index, id(new))
        try:
            if key not in self._before:
                self._before[key] = _by_rule(_breaks(new, old, self._level, self._policy, budget))
            return _by_rule(_breaks(edited, old, self._level, self._policy, budget)) <= self._before[key]
        except Incomparable:
            return False

    def _version(self, index: int, budget: Budget) -> ParsedSchema | None:
        """A version; None if it cannot be read: then no schema can be compared with it."""
        if index not in self._parsed:
            try:
                self._parsed[index] = self._parsers[index]()
            except InvalidSchema:
                self._parsed[index] = None
            parsed = self._parsed[index]
            budget.spend(0 if parsed is None else len(parsed.source) // _CHARACTERS_A_STEP)
        return self._parsed[index]


def fixes_of(finding: Finding, budget: Budget, other_versions: OtherVersions | None = None) -> tuple[Fix, ...]:
    """The fixes for a finding; none once the budget is spent.

    Each fix was tried: the edited text is a valid schema, the finding is gone, and no rule, caution or warning is
    reported more often than before; nor is a rule on the other versions, if there are any.
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
        for fix in (_with_line_breaks_of(new.source, fix) for fix in islice(fixes, _MOST_TRIED)):
            if _mends(fix, finding, old, before, other_versions, budget):
                offered.append(fix)
            if len(offered) == _MOST_OFFERED:
                break
    except TooMuchWork:
        pass
    return tuple(offered)


def _with_line_breaks_of(source: str, fix: Fix) -> Fix:
    """A fix whose lines end as the source's do."""
    if "\r\n" not in source:
        return fix
    return replace(fix, edits=tuple(replace(edit, text=_LINE_BREAK.sub("\r\n", edit.text)) for edit in fix.edits))


def _mends(
    fix: Fix,
    finding: Finding,
    old: ParsedSchema,
    before: Counter[_Key],
    other_versions: OtherVersions | None,
    budget: Budget,
) -> bool:
    try:
        text = apply_edits(finding.new.source, fix.edits)
    except ValueError:
        # The edits of two causes may be at the same place.
        return False
    budget.spend(len(text) // _CHARACTERS_A_STEP)
    key = (finding.difference.rule.name, finding.difference.path, finding.direction.name)
    is_caution = finding.policy in finding.difference.rule.allowed
    try:
        edited = FORMATS[finding.new.schema_type].edited(finding.new, text)
        breaks = _breaks(edited, old, finding.level, finding.policy, budget)
        if not (_by_rule(breaks) <= _by_rule(before) and _warnings(edited) <= _warnings(finding.new)):
            return False
        if not is_caution and not (sum(breaks.values()) < sum(before.values()) and breaks[key] < before[key]):
            return False
        broken = {direction for _, _, direction in breaks}
        cautions = _cautions(edited, old, finding.level, budget, broken)
    except (InvalidSchema, Incomparable, NotExamined):
        # What was not examined proves nothing.
        return False
    cautions_before, steps = _cautions_before(finding.new, old, finding.level)  # type: ignore[arg-type]  # by identity
    budget.spend(steps // 2)
    if not _by_rule(cautions) <= _by_rule(cautions_before) or (is_caution and cautions[key]):
        return False
    return other_versions is None or other_versions.stand(finding.new, edited, old, budget)


def _warnings(schema: ParsedSchema) -> Counter[str]:
    """Count the warnings by rule about parts that the type's own tools refuse; raises InvalidSchema as they do."""
    warnings = FORMATS[schema.schema_type].warnings
    return Counter(warning.rule for warning in warnings(schema)) if warnings is not None else Counter()


def _by_rule(breaks: Counter[_Key]) -> Counter[tuple[str, str]]:
    rules: Counter[tuple[str, str]] = Counter()
    for (rule, _, direction), count in breaks.items():
        rules[rule, direction] += count
    return rules


@lru_cache(maxsize=4)
def _breaks_before(new: ParsedSchema, old: ParsedSchema, level: Level, policy: Policy) -> tuple[Counter[_Key], int]:
    """The breaks without any edit, and the cost in steps; cached because all findings of a pair share them."""
    return _counted(lambda budget: _breaks(new, old, level, policy, budget))


@lru_cache(maxsize=4)
def _cautions_before(new: ParsedSchema, old: ParsedSchema, level: Level) -> tuple[Counter[_Key], int]:
    """The cautions without any edit, and the cost in steps; cached as the breaks are.

    A break may hide a caution that was there already, so all count here.
    """
    return _counted(lambda budget: _cautions(new, old, level, budget))


def _counted(count: Callable[[Budget], Counter[_Key]]) -> tuple[Counter[_Key], int]:
    budget = Budget()
    before = budget.steps_left
    try:
        return count(budget), before - budget.steps_left
    except (TooMuchWork, NotExamined, Incomparable, InvalidSchema):
        return Counter(), before


def _breaks(new: ParsedSchema, old: ParsedSchema, level: Level, policy: Policy, budget: Budget) -> Counter[_Key]:
    breaks: Counter[_Key] = Counter()
    for direction in level.directions:
        reader, writer = (new, old) if direction.new_reads_old else (old, new)
        for difference in FORMATS[new.schema_type].differences(reader, writer, budget):
            if policy not in difference.rule.allowed:
                breaks[difference.rule.name, difference.path, direction.name] += 1
    return breaks


def _cautions(
    new: ParsedSchema, old: ParsedSchema, level: Level, budget: Budget, broken: Container[str] = ()
) -> Counter[_Key]:
    """The cautions; `broken` are the names of the directions that have breaks."""
    cautions: Counter[_Key] = Counter()
    for direction in level.directions:
        reader, writer = (new, old) if direction.new_reads_old else (old, new)
        is_compatible = direction.name not in broken
        judged = Judged(reader, writer, is_compatible=is_compatible, new_reads_old=direction.new_reads_old)
        for difference in FORMATS[new.schema_type].cautions(judged, budget):
            cautions[difference.rule.name, difference.path, direction.name] += 1
    return cautions
