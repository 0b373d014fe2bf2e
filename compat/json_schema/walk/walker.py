"""The walk over pairs of subschemas: runs the judges, answers their questions, and decides when to stop.

Each pair is judged once. A pair that is met again while it is in progress counts as compatible. If that proves wrong,
the walk starts again with all pairs that are known to fail, until no other pair fails. This ends because a verdict can
only change from compatible to incompatible.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from compat.budget import Budget
from compat.json_schema.judges.arrays import arrays
from compat.json_schema.judges.combined import combined, into_combined, negated, out_of_combined
from compat.json_schema.judges.judging import Ask, Change, Doomed, Judge
from compat.json_schema.judges.objects import objects
from compat.json_schema.judges.values import annotation_changes, consts, enums, nothing, numbers, strings
from compat.json_schema.model.metaschemas import REMEMBERED_PATTERNS
from compat.json_schema.model.nodes import (
    Array,
    Boolean,
    Combined,
    Conditional,
    Const,
    Empty,
    Enum,
    Never,
    Node,
    Not,
    Null,
    Number,
    Object,
    String,
    follow,
)
from compat.json_schema.rules.table import RULES
from compat.json_schema.walk.listing import MAX_FINDINGS, Result, listed
from compat.level import Policy

#: The steps for a pair, for each change or question of its judge, for a property, and for a pattern search.
_STEPS_A_PAIR = 8
_STEPS_A_WORD = 2
_STEPS_A_PROPERTY = 1
_STEPS_A_PATTERN = 10

_BREAKING = {policy: frozenset(rule.name for rule in RULES.values() if policy not in rule.allowed) for policy in Policy}
_DISPUTED = _BREAKING[Policy.STRICT] ^ _BREAKING[Policy.LENIENT]
#: The judges of kinds without subschemas.
_SIMPLE = {
    Empty: nothing,
    Never: nothing,
    Null: nothing,
    Boolean: nothing,
    Conditional: nothing,
    String: strings,
    Number: numbers,
    Enum: enums,
    Const: consts,
}
_NESTED = {Object: objects, Array: arrays, Combined: combined, Not: negated}

_Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The changes between two schemas, and whether the policy can affect which members of them are paired."""

    changes: list[Change]
    depends_on_policy: bool


def compare(old: Node, new: Node, policy: Policy, budget: Budget) -> Comparison:
    """Compare two schemas under a policy; the changes are in the reference's order.

    Raises:
        TooMuchWork: The comparison exceeds the budget.
    """
    failed: frozenset[_Pair] = frozenset()
    depends_on_policy = False
    while True:
        walk = _Pass(_BREAKING[policy], failed, budget)
        changes = walk.run(old, new)
        # A later walk does not enter pairs that are known to fail, so the answer of every walk counts.
        depends_on_policy = depends_on_policy or walk.depends_on_policy
        if not walk.contradicted():
            return Comparison(changes, depends_on_policy)
        failed = walk.failures()


@dataclass(slots=True)
class _Frame:
    """A pair in progress: its judge, and its changes so far."""

    pair: _Pair
    judge: Judge
    ask: Ask
    listing: bool
    compatible: bool = True
    entries: list[Change | tuple[Ask, Result]] = field(default_factory=list)
    count: int = 0
    breaking: int = 0
    cut: set[_Pair] = field(default_factory=set)

    def result(self) -> Result:
        """The outcome so far."""
        most = MAX_FINDINGS + 1
        cut = frozenset(self.cut - {self.pair})
        return Result(self.compatible, tuple(self.entries), min(self.count, most), min(self.breaking, most), cut)


class _Pass:
    """One walk, given the pairs that earlier walks proved to fail."""

    def __init__(self, breaking: frozenset[str], failed: frozenset[_Pair], budget: Budget) -> None:
        self._budget = budget
        self._breaking = breaking
        self._failed = failed
        self._assumed: set[_Pair] = set()
        self._verdicts: dict[_Pair, bool] = {}
        self._results: dict[_Pair, Result] = {}
        self._repeated: set[_Pair] = set()
        self._in_progress: set[_Pair] = set()
        self._stack: list[_Frame] = []
        #: Whether the policies disagree on any change.
        self.depends_on_policy = False

    def contradicted(self) -> bool:
        """Whether a pair failed that had been taken for compatible while it was in progress."""
        return any(not self._verdicts[pair] for pair in self._assumed - self._failed)

    def failures(self) -> frozenset[_Pair]:
        """The pairs that are known to fail."""
        return self._failed | {pair for pair, compatible in self._verdicts.items() if not compatible}

    def run(self, old: Node, new: Node) -> list[Change]:
        """All changes between two schemas."""
        root = _Frame((0, 0), _root(old, new), Ask(old, new), listing=True)
        self._stack = [root]
        answer: bool | None = None
        while self._stack:
            frame = self._stack[-1]
            try:
                message = frame.judge.send(answer)  # type: ignore[arg-type]  # None starts the judge
            except StopIteration:
                answer = self._finish(frame)
                continue
            answer = None
            self._budget.spend(_STEPS_A_WORD)
            if isinstance(message, Change):
                self._add(frame, message)
                if not frame.compatible and not frame.listing:
                    answer = self._finish(frame)
            elif isinstance(message, Doomed):
                if not frame.listing:
                    frame.compatible = False
                    answer = self._finish(frame)
            else:
                answer = self._answer(frame, message)
                if answer is False and message.keep and not frame.listing:
                    answer = self._finish(frame)
        return listed(root.result(), self._breaking, self._budget)

    def _add(self, frame: _Frame, change: Change) -> None:
        breaks = change.name in self._breaking
        if breaks:
            frame.compatible = False
        if change.name in _DISPUTED:
            self.depends_on_policy = True
        if frame.listing:
            frame.entries.append(change)
            frame.count += 1
            frame.breaking += breaks

    def _answer(self, frame: _Frame, ask: Ask) -> bool | None:
        """The answer to a question; None if the pair was pushed on the stack because it must be judged first."""
        old, new = follow(ask.old), follow(ask.new)
        pair = (id(old), id(new))
        listing = ask.keep and frame.listing
        if pair in self._in_progress:
            compatible = pair not in self._failed
            if compatible:
                self._assumed.add(pair)
            self._adopt(frame, ask, Result(compatible, cut=frozenset(() if compatible else (pair,))))
            return compatible
        result = self._cached(pair, listing=listing)
        if result is None:
            self._budget.spend(_STEPS_A_PAIR + _STEPS_A_PROPERTY * (_size(old) + _size(new)) + _searches(old, new))
            result = self._judge_simple(pair, old, new)
        if result is not None:
            self._adopt(frame, ask, result)
            return result.compatible
        self._in_progress.add(pair)
        self._stack.append(_Frame(pair, _nested(old, new), ask, listing))
        return None

    def _cached(self, pair: _Pair, *, listing: bool) -> Result | None:
        if not listing:
            if pair in self._failed:
                return Result(compatible=False)
            compatible = self._verdicts.get(pair)
            return None if compatible is None else Result(compatible)
        result = self._results.get(pair)
        if result is None or result.compatible or pair in self._repeated or result.cut <= self._in_progress:
            return result
        if result.breaking:
            return result
        # Everything that broke it was in pairs that were in progress then and are not now, so list the pair once more.
        self._repeated.add(pair)
        return None

    def _judge_simple(self, pair: _Pair, old: Node, new: Node) -> Result | None:
        changes = _simple(old, new)
        if changes is None:
            return None
        breaking = sum(change.name in self._breaking for change in changes)
        result = self._results[pair] = Result(not breaking, tuple(changes), len(changes), breaking)
        self._verdicts[pair] = result.compatible
        return result

    def _adopt(self, frame: _Frame, ask: Ask, result: Result) -> None:
        if not ask.keep:
            return
        frame.compatible = frame.compatible and result.compatible
        if frame.listing:
            frame.cut |= result.cut
            if result.count:
                frame.entries.append((ask, result))
                frame.count += result.count
                frame.breaking += result.breaking

    def _finish(self, frame: _Frame) -> bool:
        """Pop a pair from the stack, store its result and return its verdict to the judge that asked."""
        self._stack.pop()
        frame.judge.close()
        self._in_progress.discard(frame.pair)
        self._verdicts[frame.pair] = frame.compatible
        result = frame.result()
        if frame.listing:
            self._results[frame.pair] = result
        if self._stack:
            asking = self._stack[-1]
            self._adopt(asking, frame.ask, result)
            if frame.ask.keep and not frame.compatible and not asking.listing:
                return self._finish(asking)
        return frame.compatible


def _size(node: Node) -> int:
    """Return the number of properties or alternatives that a pair's judge examines before its first question."""
    if isinstance(node, Object):
        return len(node.properties) + len(node.dependent_required)
    return len(node.members) if isinstance(node, Combined) else 0


def _searches(old: Node, new: Node) -> int:
    """The steps for matching each schema's patterns with the other schema's properties, at most."""
    if not isinstance(old, Object) or not isinstance(new, Object) or not (old.patterns or new.patterns):
        return 0
    searches = len(old.patterns) * len(new.properties) + len(new.patterns) * len(old.properties)
    is_remembered = len(old.patterns) + len(new.patterns) <= REMEMBERED_PATTERNS
    return searches if is_remembered else searches * _STEPS_A_PATTERN


def _root(old: Node, new: Node) -> Judge:
    yield Ask(old, new)


def _simple(old: Node, new: Node) -> list[Change] | None:
    """The changes of a pair whose judge asks no questions; None for any other pair."""
    kind = type(old)
    if kind is not type(new):
        return None if kind is Combined or type(new) is Combined else _of_other_kind(old, new)
    judge = _SIMPLE.get(kind)
    if judge is None:
        return None
    return [*annotation_changes(old, new), *judge(old, new)]  # type: ignore[operator]  # the table pairs kinds and judges


def _of_other_kind(old: Node, new: Node) -> list[Change]:
    """TYPE_CHANGED, unless nothing was accepted, everything is accepted now, or both are Connect's schemas of bytes."""
    if isinstance(old, Never) or isinstance(new, Empty) or old.connect_type == new.connect_type == "bytes":
        return []
    return [Change("TYPE_CHANGED", (), (), new.keyword("type") or new.at, old.keyword("type") or old.at)]


def _nested(old: Node, new: Node) -> Judge:
    """The judge of a pair with subschemas."""
    if isinstance(new, Combined) and not isinstance(old, Combined):
        if (yield from into_combined(old, new)):
            return
    elif isinstance(old, Combined) and not isinstance(new, Combined) and (yield from out_of_combined(old, new)):
        return
    if type(old) is not type(new):
        yield from _of_other_kind(old, new)
        return
    yield from annotation_changes(old, new)
    yield from _NESTED[type(old)](old, new)  # type: ignore[operator]  # the table pairs kinds and judges
