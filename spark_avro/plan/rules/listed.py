"""The rules that run on the rows of a column: those of serdes' plan, with what follows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from serdes.rules.context import ENCODING_RULES, READ, WRITE, RuleContext, Ruled
from serdes.rules.error import RuleFailed, RuleUnusable
from serdes.rules.executors import executor_of
from serdes.rules.plan import Plan, rules_plan
from serdes.rules.settings import RuleSettings
from spark_avro.errors import PlanError

APPLY, REFUSE, IGNORE = "apply", "refuse", "ignore"

#: The types of rules that columns carry out, in the JVM or in Python workers.
EXECUTORS = frozenset({"CEL", "CEL_FIELD", "JSONATA", "REDACT"})
#: Actions that stop a row. A row that stops goes where `mode` says, as to the dead letters.
_STOPPING = frozenset({"ERROR", "DLQ"})
_REMEDY = "set `disabled` of the rule, or `enableAt` of the rule set to leave clients out"
_READ_REMEDY = f"{_REMEDY}, or pass rules='ignore' to read without rules"


@dataclass(frozen=True, slots=True)
class ListedRule:
    """A rule that runs.

    Attributes:
        context: The rule, its schema and its settings.
        by_field: Whether it runs on the fields that its tags select.
        may_fail: Whether the row goes on as it was if the rule fails.
        must_fail: Whether the row stops if the rule succeeds.
    """

    context: RuleContext
    by_field: bool
    may_fail: bool = False
    must_fail: bool = False

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the rule for workers: they make its plan themselves, since contexts have functions."""
        context = self.context
        return _listed_again, (context.ruled, context.mode, context.settings, self.name, self.may_fail, self.must_fail)

    @property
    def name(self) -> str:
        """The rule's name."""
        return self.context.rule.name or ""

    def text(self, path: str, detail: str | None = None) -> str:
        """The text of a failure at a path: that of serdes, without the value."""
        rule, ruled = self.context.rule, self.context.ruled
        said = detail or rule.doc or rule.expr or f"Rule failed: {rule.name}"
        failure = RuleFailed(
            self.name, rule.type or "", self.context.mode, ruled.subject, ruled.schema_id, ruled.version, path, "", said
        )
        return str(failure)


def _listed_again(
    ruled: Ruled,
    mode: str,
    settings: RuleSettings,
    name: str,
    may_fail: bool,  # noqa: FBT001 - pickle passes no names
    must_fail: bool,  # noqa: FBT001 - pickle passes no names
) -> ListedRule:
    steps = rules_plan(ruled, mode, settings).steps
    step = next(step for step in steps if step.context.rule.name == name)
    return ListedRule(step.context, step.by_field, may_fail, must_fail)


def check_rules(rules: str, mode: str) -> None:
    """Check the argument `rules` of a function.

    Raises:
        PlanError: There is no such value, or it is none for writing.
    """
    if rules == IGNORE and mode == WRITE:
        raise PlanError("rules='ignore' is for reading: records would be written that break the rules of their schema")
    if rules not in (APPLY, REFUSE, IGNORE):
        raise PlanError(f"rules is apply, refuse or ignore, not {rules!r}")


def listed_rules(ruled: Ruled, mode: str, settings: RuleSettings | None = None) -> Sequence[ListedRule]:
    """The domain rules of a schema that run in a mode, in order.

    Raises:
        PlanError: A rule cannot be carried out.
    """
    settings = RuleSettings() if settings is None else settings
    encoding = rules_plan(ruled, mode, settings, phase=ENCODING_RULES).steps
    if encoding:
        raise _unusable(encoding[0].context, "rules on encoded bytes are not carried out in Spark")
    return [_listed(step.context, by_field=step.by_field) for step in rules_plan(ruled, mode, settings).steps]


def _listed(context: RuleContext, *, by_field: bool) -> ListedRule:
    rule, settings = context.rule, context.settings
    _check_executor(context)
    override = settings.override(rule.name or "", context.type)
    on_failure = _action(override.on_failure or rule.on_failure, "ERROR", context)
    on_success = _action(override.on_success or rule.on_success, "NONE", context)
    return ListedRule(context, by_field, on_failure == "NONE", on_success in _STOPPING)


def check_executors(plan: Plan) -> None:
    """Check that Spark has the executors of a plan's rules.

    Raises:
        PlanError: It lacks one, or a rule cannot be carried out.
    """
    for step in plan.steps:
        _check_executor(step.context)


def _check_executor(context: RuleContext) -> None:
    rule = context.rule
    if context.type not in EXECUTORS:
        raise _unusable(context, f"rules of type {rule.type} are not carried out in Spark")
    try:
        executor_of(context.type, context.settings, context.phase).compile(rule, context)
    except RuleUnusable as error:
        raise _unusable(context, str(error)) from None


def _action(actions: str | None, default: str, context: RuleContext) -> str:
    """The action of a rule in this mode: of `a,b`, a on WRITE and b on READ."""
    name = actions or default
    if "," in name and context.rule.mode == "WRITEREAD":
        first, _, second = name.partition(",")
        name = second if context.mode == READ else first
    upper = name.strip().upper()
    if upper not in _STOPPING and upper != "NONE":
        raise _unusable(context, f"its action {name.strip() or '(empty)'} is none of ERROR, NONE and DLQ")
    return upper


def _unusable(context: RuleContext, problem: str) -> PlanError:
    rule, ruled = context.rule, context.ruled
    remedy = _REMEDY if context.mode == WRITE else _READ_REMEDY
    return PlanError(f"rule '{rule.name}' ({rule.type}, {context.mode}) of {ruled.name}: {problem}; {remedy}")
