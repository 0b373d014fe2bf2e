"""Plans of rules: made once per schema, mode and environment, and carried out on each message."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from compat.contracts.model import DATA_MODES, KINDS, MIGRATION_MODES, PLACES, Metadata, Rule, RuleSet
from compat.contracts.walk import field_walk
from compat.formats import parse
from serdes.error import SerializationError
from serdes.rules.actions import Act, bound_action
from serdes.rules.context import (
    DOMAIN_RULES,
    DOWNGRADE,
    ENCODING_RULES,
    MIGRATION_RULES,
    READ,
    CarryOut,
    Message,
    RuleContext,
    Ruled,
)
from serdes.rules.counts import FAILED, IGNORED, PASSED, RuleCounts
from serdes.rules.error import RuleConditionError, RuleError, RuleFailed, RuleRefused, RuleUnusable
from serdes.rules.executors import executor_of, unusable
from serdes.rules.failures import failed
from serdes.rules.registry import RuleRegistry
from serdes.rules.settings import NONE, RuleSettings

#: The record header with the name of the rule that a record in the dead letters failed at.
RULE_NAME = "__rule.name"
#: The modes whose rules are carried out from the last to the first.
_REVERSED = frozenset({READ, DOWNGRADE})
_BOTH = {"WRITE": "WRITEREAD", "READ": "WRITEREAD", "UPGRADE": "UPDOWN", "DOWNGRADE": "UPDOWN"}


@dataclass(frozen=True, slots=True)
class Step:
    """One rule of a plan, compiled.

    Attributes:
        context: The rule, its schema and its settings.
        carry_out: Carries it out.
        on_success: What follows a success.
        on_failure: What follows a failure; it raises unless the message may pass.
        by_field: Whether the rule is carried out on the fields that its tags select.
        holds_up: Whether the rule or an action may take long.
        counts: Where messages are counted; None to count none.
        is_refused: Whether nothing may let a message pass the rule, as one of encryption; headers cannot, either.
    """

    context: RuleContext
    carry_out: CarryOut
    on_success: Act
    on_failure: Act
    by_field: bool = False
    holds_up: bool = False
    counts: RuleCounts | None = None
    is_refused: bool = False

    def __call__(self, datum: Any, message: Message) -> Any:
        """The datum after the rule.

        Raises:
            RuleFailed: The rule stops the message.
        """
        try:
            result = self.carry_out(datum, message)
            if self.context.is_condition:
                if not result:
                    raise RuleConditionError(self.context.rule)  # noqa: TRY301  # failures have one way out
                result = datum
            elif result is None:
                raise RuleError("the result is null")  # noqa: TRY301  # failures have one way out
            elif self.context.phase == ENCODING_RULES:
                result = _as_bytes(result)
        except Exception as error:  # noqa: BLE001  # whatever a rule raises stops the message, unless an action lets it pass
            self._fail(error, datum, message)
            return datum
        self.on_success(message, result, None)
        if self.counts is not None:
            self.counts.add((message.subject, self.context.rule.name or "", PASSED))
        return result

    def _fail(self, error: Exception, datum: Any, message: Message) -> None:
        failure = error if isinstance(error, RuleFailed) else failed(self.context, error, datum)
        verdict = FAILED
        try:
            if isinstance(error, RuleRefused):
                raise failure
            self.on_failure(message, datum, failure)
            verdict = IGNORED
        finally:
            if self.counts is not None:
                self.counts.add((message.subject, self.context.rule.name or "", verdict))


@dataclass(frozen=True, slots=True)
class Plan:
    """The rules to carry out on messages of one schema in one direction; a plan without steps is false."""

    steps: tuple[Step, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.steps)

    @property
    def holds_up(self) -> bool:
        """Whether a step may take long."""
        return any(step.holds_up for step in self.steps)

    def run(self, datum: Any, message: Message) -> Any:
        """The datum after all rules; None, which has no rules, stays None.

        Raises:
            RuleFailed: A rule stops the message.
        """
        if datum is None:
            return None
        replayed = _replayed(message.headers) if message.headers else None
        for step in self.steps:
            if replayed is None or step.is_refused or step.context.rule.name != replayed:
                datum = step(datum, message)
        return datum


def rules_plan(
    ruled: Ruled,
    mode: str,
    settings: RuleSettings,
    *,
    phase: str = DOMAIN_RULES,
    counts: RuleCounts | None = None,
    source: Ruled | None = None,
) -> Plan:
    """The plan of a schema's rules.

    A rule that cannot be carried out becomes a step that fails for every message.

    Args:
        ruled: The schema with its rules and metadata.
        mode: WRITE, READ, UPGRADE or DOWNGRADE. READ and DOWNGRADE reverse the rules.
        settings: The settings of rules.
        phase: The list of rules: `domainRules`, `encodingRules` or `migrationRules`.
        counts: Where messages are counted; None to count none.
        source: For migration rules, the schema that messages come from.

    Raises:
        SerializationError: The rule set or the metadata cannot be read.
    """
    rule_set, metadata = _read(ruled)
    walk = cache(lambda: field_walk(ruled.schema, ruled.dependencies, metadata))
    parsed = cache(lambda: parse(ruled.schema, ruled.dependencies))
    last: tuple[Step, ...] = ()
    if settings.redacted and mode == READ and phase == DOMAIN_RULES:
        redact, alone = _redaction(settings.redacted), RuleSettings(registry=RuleRegistry())
        context = RuleContext(redact, READ, DOMAIN_RULES, ruled, alone, walk, parsed, (redact,), 0, metadata)
        last = (_step(context, None),)
    if rule_set is None or settings.environment == NONE or not _is_enabled(rule_set, settings, ruled):
        return Plan(last)
    listed = {name: rules for name, rules, _ in rule_set.groups}[phase]
    rules = listed[::-1] if mode in _REVERSED else listed
    contexts = (
        RuleContext(rule, mode, phase, ruled, settings, walk, parsed, rules, index, metadata, source)
        for index, rule in enumerate(rules)
    )
    steps = [_step(context, counts) for context in contexts if runs(context)]
    return Plan((*_without_repeated_tags(steps), *last))


def _redaction(tags: tuple[str, ...]) -> Rule:
    """The rule that redacts fields for a reader who asked for it; neither settings nor headers of a record skip it."""
    doc = "redaction that the reader asked for"
    return Rule(None, doc=doc, kind="TRANSFORM", mode=READ, type="REDACT", tags=tags)


def runs(context: RuleContext) -> bool:
    """Whether a rule is carried out in this mode: it is of the mode, and neither it nor an override disables it.

    Raises:
        SerializationError: The rule has an unknown mode, so nobody knows whether to carry it out.
    """
    rule = context.rule
    override = context.settings.override(rule.name or "", context.type)
    if rule.disabled if override.disabled is None else override.disabled:
        return False
    if rule.mode not in DATA_MODES | MIGRATION_MODES:
        raise SerializationError(f"rule '{rule.name}' of {context.ruled.name} has the unknown mode {rule.mode}")
    return rule.mode in (context.mode, _BOTH[context.mode])


def _read(ruled: Ruled) -> tuple[RuleSet | None, Metadata]:
    try:
        return RuleSet.from_json(ruled.rule_set), Metadata.from_json(ruled.metadata) or Metadata()
    except TypeError as error:
        raise SerializationError(f"{ruled.name} has rules or metadata that cannot be read: {error}") from None


def _is_enabled(rule_set: RuleSet, settings: RuleSettings, ruled: Ruled) -> bool:
    place = rule_set.enable_at
    if place is not None and place not in PLACES:
        raise SerializationError(f"{ruled.name} has rules that are enabled at the unknown place {place}")
    return place in (None, "ALL", settings.environment)


def _step(context: RuleContext, counts: RuleCounts | None) -> Step:
    rule, settings = context.rule, context.settings
    override = settings.override(rule.name or "", context.type)
    on_failure, failure_holds_up = bound_action(override.on_failure or rule.on_failure, "ERROR", context)
    on_success, success_holds_up = bound_action(override.on_success or rule.on_success, "NONE", context)
    by_field = holds_up = is_refused = False
    try:
        if not rule.type:
            raise RuleUnusable("the rule has no type")  # noqa: TRY301  # as any rule that cannot be carried out
        if rule.kind is not None and rule.kind not in KINDS:
            raise RuleUnusable(f"the kind {rule.kind} is unknown; use {' or '.join(KINDS)}")  # noqa: TRY301  # as above
        executor = executor_of(rule.type, settings, context.phase)
        by_field, holds_up = executor.by_field, executor.holds_up
        if by_field and context.phase == MIGRATION_RULES:
            raise RuleUnusable(  # noqa: TRY301  # as any rule that cannot be carried out
                f"rules of type {context.type} cannot be migration rules: data are between two schemas there; "
                "use CEL or JSONATA"
            )
        carry_out = executor.compile(rule, context)
    except RuleUnusable as error:
        carry_out, is_refused = unusable(error), isinstance(error, RuleRefused)
    except Exception as error:  # noqa: BLE001  # an executor that cannot start stops the messages, with the rule's name
        carry_out = unusable(RuleUnusable(f"its executor cannot start: {type(error).__name__}: {error}"))
    holds_up = holds_up or failure_holds_up or success_holds_up
    return Step(context, carry_out, on_success, on_failure, by_field, holds_up, counts, is_refused)


def _without_repeated_tags(steps: list[Step]) -> list[Step]:
    """The steps without those that repeat a transformation on the same tags: the first of the rule set's list stays."""
    is_reversed = bool(steps) and steps[0].context.mode in _REVERSED
    seen: set[object] = set()
    kept = []
    for step in reversed(steps) if is_reversed else steps:
        rule = step.context.rule
        key = (rule.mode, step.context.type, rule.tags)
        repeats = step.by_field and bool(rule.tags) and not step.context.is_condition
        if not repeats or key not in seen:
            kept.append(step)
        if repeats:
            seen.add(key)
    return kept[::-1] if is_reversed else kept


def _as_bytes(result: Any) -> bytes:
    if not isinstance(result, bytes | bytearray | memoryview):
        raise RuleError(f"the result is {type(result).__name__}, expected bytes")
    return bytes(result)


def _replayed(headers: Any) -> str | None:
    """The rule that a record from the dead letters failed at; None if the record does not come from there."""
    pairs: Iterable[tuple[str, Any]] = headers.items() if hasattr(headers, "items") else headers
    name: Any = None
    for key, value in pairs:
        if key == RULE_NAME and value is not None:
            name = value
    return name.decode("utf-8", "replace") if isinstance(name, bytes | bytearray) else name
