"""One rule: which rules run in a mode and at a place, what follows them, and what overrides them."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from compat.schema import SchemaText
from serdes.error import ConfigError, SerializationError
from serdes.message.config import AvroSerializerConfig
from serdes.rules.context import DOMAIN_RULES, ENCODING_RULES, MIGRATION_RULES, Message, Ruled
from serdes.rules.counts import RuleCounts
from serdes.rules.error import RuleConditionError, RuleError, RuleFailed
from serdes.rules.plan import rules_plan
from serdes.rules.registry import RuleOverride, RuleRegistry
from serdes.rules.settings import RuleSettings

TEXT = SchemaText("AVRO", '"string"')


class Appends:
    """Appends the rule's expression to a text; `!` fails, and null has no result."""

    type = "APPEND"
    by_field = False
    holds_up = False

    def compile(self, rule: Any, context: Any) -> Any:
        def carry_out(datum: str, message: Message) -> Any:
            if rule.expr == "!":
                raise RuleError("it cannot")
            if context.is_condition:
                return datum.endswith(rule.expr)
            return None if rule.expr == "null" else datum + rule.expr

        return carry_out


class Notes:
    """Notes what it follows."""

    type = "NOTE"
    holds_up = False
    needs_key = False

    def __init__(self) -> None:
        self.noted: list[str] = []

    def compile(self, context: Any) -> Any:
        def act(message: Message, datum: Any, failure: RuleFailed | None) -> None:
            self.noted.append(f"{context.rule.name}:{datum}:{failure is None}")

        return act


NOTES = Notes()


def settings(**conf: Any) -> RuleSettings:
    registry = RuleRegistry()
    registry.register_executor(Appends())
    NOTES.noted.clear()
    registry.register_action(NOTES)
    return AvroSerializerConfig.load(conf).rules(None, registry)


def carry_out(
    *rules: dict[str, Any],
    mode: str = "WRITE",
    datum: Any = "x",
    headers: Any = None,
    phase: str = DOMAIN_RULES,
    with_settings: RuleSettings | None = None,
    counts: RuleCounts | None = None,
    **rule_set: Any,
) -> Any:
    """The datum after rules of type APPEND, or the text of the failure."""
    defaults = {"kind": "TRANSFORM", "mode": "WRITE", "type": "APPEND", "expr": "a"}
    named = [{"name": f"r{index}", **defaults, **rule} for index, rule in enumerate(rules)]
    ruled = Ruled("the schema", TEXT, {phase: named, **rule_set}, subject="s", version=3)
    plan = rules_plan(ruled, mode, with_settings or settings(), phase=phase, counts=counts)
    message = Message("s", "t", False, headers, datum)
    try:
        return plan.run(datum, message)
    except RuleFailed as failure:
        return str(failure)


WRITES, READS, UPGRADES, DOWNGRADES = "WRITE", "READ", "UPGRADE", "DOWNGRADE"


@pytest.mark.parametrize(
    ("mode", "runs_in"),
    [
        ("WRITE", {WRITES}),
        ("READ", {READS}),
        ("WRITEREAD", {WRITES, READS}),
        ("UPGRADE", {UPGRADES}),
        ("DOWNGRADE", {DOWNGRADES}),
        ("UPDOWN", {UPGRADES, DOWNGRADES}),
    ],
)
def test_a_rule_runs_in_its_modes(mode: str, runs_in: set[str]):
    for now in (WRITES, READS, UPGRADES, DOWNGRADES):
        phase = DOMAIN_RULES if now in (WRITES, READS) else MIGRATION_RULES
        assert carry_out({"mode": mode}, mode=now, phase=phase) == ("xa" if now in runs_in else "x")


def test_rules_run_in_their_order_and_are_reversed_on_reading_and_downgrading():
    rules = [{"expr": "a"}, {"expr": "b"}, {"expr": "c"}]
    writes_and_reads = [{**rule, "mode": "WRITEREAD"} for rule in rules]
    moves = [{**rule, "mode": "UPDOWN"} for rule in rules]
    assert carry_out(*writes_and_reads) == "xabc"
    assert carry_out(*writes_and_reads, mode="READ") == "xcba"
    assert carry_out(*moves, mode="UPGRADE", phase=MIGRATION_RULES) == "xabc"
    assert carry_out(*moves, mode="DOWNGRADE", phase=MIGRATION_RULES) == "xcba"


@pytest.mark.parametrize(
    ("enable_at", "client", "gateway"),
    [
        (None, "xa", "xa"),
        ("ALL", "xa", "xa"),
        ("CLIENT", "xa", "x"),
        ("GATEWAY", "x", "xa"),
        ("SERVER", "x", "x"),
        ("NONE", "x", "x"),
    ],
)
def test_a_rule_set_runs_where_it_is_enabled(enable_at: str | None, client: str, gateway: str):
    place = {} if enable_at is None else {"enableAt": enable_at}
    at_gateway = settings(**{"execution.environment": "GATEWAY"})
    assert carry_out({}, **place) == client
    assert carry_out({}, with_settings=at_gateway, **place) == gateway
    assert carry_out({}, with_settings=settings(**{"execution.environment": "none"}), **place) == "x"


def test_unknown_places_and_modes_are_refused():
    with pytest.raises(SerializationError, match="enabled at the unknown place MARS"):
        carry_out({}, enableAt="MARS")
    with pytest.raises(SerializationError, match="rule 'r0' of the schema has the unknown mode SOMETIMES"):
        carry_out({"mode": "SOMETIMES"})
    with pytest.raises(SerializationError, match=r"has rules or metadata that cannot be read: .*expr must be a string"):
        carry_out({"expr": 5})


OWN, SET = {"disabled": True}, {"disabled": False}


@pytest.mark.parametrize(
    ("rule", "conf", "result"),
    [
        ({}, {}, "xa"),
        (OWN, {}, "x"),
        (SET, {}, "xa"),
        (OWN, {"rule.executors.r0.disabled": False}, "xa"),
        ({}, {"rule.executors.r0.disabled": "true"}, "x"),
        ({}, {"rule.executors._APPEND_.disabled": True}, "x"),
        ({}, {"rule.executors._append_.disabled": True}, "x"),
        ({}, {"rule.executors._default_.disabled": True}, "x"),
        ({}, {"rule.executors.other.disabled": True}, "xa"),
        ({}, {"rule.executors._CEL_.disabled": True}, "xa"),
        # A rule's name goes before its type, and its type before the default.
        ({}, {"rule.executors.r0.disabled": False, "rule.executors._APPEND_.disabled": True}, "xa"),
        ({}, {"rule.executors._APPEND_.disabled": False, "rule.executors._default_.disabled": True}, "xa"),
    ],
)
def test_disabled_rules_are_skipped_and_overrides_win(rule: dict[str, Any], conf: dict[str, Any], result: str):
    assert carry_out(rule, with_settings=settings(**conf)) == result


def test_an_override_of_a_registry_is_by_type():
    chosen = settings(**{"rule.executors._default_.disabled": False})
    assert chosen.registry is not None
    chosen.registry.register_override(RuleOverride("APPEND", None, None, True))
    assert carry_out({}, with_settings=chosen) == "x"
    chosen.registry.register_override(RuleOverride("append", on_failure="NONE"))
    assert carry_out({"expr": "!"}, {"expr": "b"}, with_settings=chosen) == "xb"


FAILED = "rule 'r0' (APPEND, WRITE) of subject s version 3 failed: !: it cannot"
NO_ACTION = (
    "rule 'r0' (APPEND, WRITE) of subject s version 3 failed: Could not find rule action of type {}; register one with "
    "serdes.rules.confluent.RuleRegistry.register_rule_action"
)


@pytest.mark.parametrize(
    ("rule", "result"),
    [
        ({"expr": "!"}, FAILED),
        ({"expr": "!", "onFailure": "ERROR"}, FAILED),
        ({"expr": "!", "onFailure": "error"}, FAILED),
        ({"expr": "!", "onFailure": "NONE"}, "xb"),
        ({"expr": "!", "onFailure": "NOTE"}, "xb"),
        ({"expr": "!", "onFailure": "NOSUCH"}, NO_ACTION.format("NOSUCH") + "; the rule failed: !: it cannot"),
        ({"expr": "a", "onSuccess": "NOTE"}, "xab"),
        ({"expr": "a", "onSuccess": "NOSUCH"}, NO_ACTION.format("NOSUCH")),
        (
            {"expr": "a", "onSuccess": "ERROR"},
            "rule 'r0' (APPEND, WRITE) of subject s version 3 failed: a: the rule's action after a success is ERROR",
        ),
        ({"expr": "null"}, "rule 'r0' (APPEND, WRITE) of subject s version 3 failed: null: the result is null"),
        ({"expr": "null", "onFailure": "NONE"}, "xb"),
        ({"kind": "CONDITION", "expr": "x"}, "xb"),
        ({"kind": "CONDITION", "expr": "y"}, "rule 'r0' (APPEND, WRITE) of subject s version 3 failed: y"),
        (
            {"kind": "CONDITION", "expr": "y", "doc": "must end with y"},
            "rule 'r0' (APPEND, WRITE) of subject s version 3 failed: must end with y",
        ),
        ({"kind": "CONDITION", "expr": "y", "onFailure": "NONE"}, "xb"),
        ({"kind": None}, "xab"),
    ],
)
def test_actions_follow_a_rule_and_the_next_rules_still_run(rule: dict[str, Any], result: str):
    assert carry_out(rule, {"expr": "b"}) == result


def test_actions_know_their_rule_and_its_outcome():
    carry_out({"onSuccess": "NOTE"}, {"expr": "!", "onFailure": "NOTE", "onSuccess": "ERROR"})
    assert NOTES.noted == ["r0:xa:True", "r1:xa:False"]


@pytest.mark.parametrize(
    ("actions", "rule_mode", "mode", "result"),
    [
        ("NONE,ERROR", "WRITEREAD", "WRITE", "x"),
        ("NONE,ERROR", "WRITEREAD", "READ", "failed"),
        ("ERROR,NONE", "WRITEREAD", "WRITE", "failed"),
        ("ERROR, NONE", "WRITEREAD", "READ", "x"),
        ("NONE,ERROR", "UPDOWN", "UPGRADE", "x"),
        ("NONE,ERROR", "UPDOWN", "DOWNGRADE", "failed"),
        ("NONE", "WRITEREAD", "READ", "x"),
        # An action for one mode only is no action for the other, and no list stands for one of a single mode.
        ("NONE,", "WRITEREAD", "READ", "Could not find rule action of type (empty)"),
        ("NONE,ERROR", "WRITE", "WRITE", "Could not find rule action of type NONE,ERROR"),
    ],
)
def test_a_pair_of_actions_is_for_both_directions(actions: str, rule_mode: str, mode: str, result: str):
    phase = DOMAIN_RULES if mode in ("WRITE", "READ") else MIGRATION_RULES
    rule = {"expr": "!", "mode": rule_mode, "onFailure": actions}
    answer = carry_out(rule, mode=mode, phase=phase)
    assert answer == result or (result in answer and "r0" in answer)


@pytest.mark.parametrize("scope", ["r0", "_APPEND_", "_default_"])
def test_actions_are_overridden(scope: str):
    failure, success = f"rule.executors.{scope}.onFailure", f"rule.executors.{scope}.onSuccess"
    assert carry_out({"expr": "!"}, with_settings=settings(**{failure: "NONE"})) == "x"
    assert carry_out({"expr": "!", "onFailure": "NONE"}, with_settings=settings(**{failure: "ERROR"})) == FAILED
    carry_out({}, with_settings=settings(**{success: "NOTE"}))
    assert NOTES.noted == ["r0:xa:True"]


@pytest.mark.parametrize(
    ("headers", "result"),
    [
        (None, "xab"),
        ([], "xab"),
        ([("__rule.name", b"r0")], "xb"),
        ({"__rule.name": b"r1"}, "xa"),
        ([("__rule.name", b"r0"), ("__rule.name", b"r1")], "xa"),
        ([("__rule.name", None), ("other", b"r1")], "xab"),
        ([("__rule.name", b"\xff")], "xab"),
    ],
)
def test_a_replayed_record_skips_the_rule_that_it_failed_at(headers: Any, result: str):
    assert carry_out({}, {"expr": "b"}, headers=headers) == result


def test_an_unknown_kind_stops_the_message():
    assert carry_out({"kind": "GUESS"}).endswith("failed: the kind GUESS is unknown; use TRANSFORM or CONDITION")


def test_null_has_no_rules():
    assert carry_out({"expr": "!"}, datum=None) is None


def test_messages_are_counted_by_rule_and_verdict():
    counts = RuleCounts()
    for _ in range(2):
        carry_out({}, {"expr": "!", "onFailure": "NONE"}, {"expr": "!"}, {}, counts=counts)
    assert dict(counts) == {("s", "r0", "passed"): 2, ("s", "r1", "ignored"): 2, ("s", "r2", "failed"): 2}


def test_a_rule_of_the_payload_has_to_return_bytes():
    assert carry_out({}, phase=ENCODING_RULES).endswith("failed: a: the result is str, expected bytes")


class Fields(Appends):
    by_field = True


BOTH = {"mode": "WRITEREAD", "tags": ["T"]}


@pytest.mark.parametrize(
    ("first", "second", "written", "read"),
    [
        ({}, {}, "xa", "xa"),
        ({}, {"type": "append"}, "xa", "xa"),
        ({"kind": None}, {}, "xa", "xa"),
        ({}, {"tags": ["T", "U"]}, "xab", "xba"),
        ({}, {"mode": "READ"}, "xa", "xba"),
        ({"tags": []}, {"tags": []}, "xab", "xba"),
        ({"kind": "CONDITION", "expr": "x"}, {}, "xb", "rule 'r0' (APPEND, READ) of subject s version 3 failed: x"),
        # A rule that does not run repeats nothing.
        ({"disabled": True}, {}, "xb", "xb"),
    ],
)
def test_only_the_first_of_two_rules_on_the_same_tags_transforms(
    first: dict[str, Any], second: dict[str, Any], written: str, read: str
):
    chosen = settings()
    assert chosen.registry is not None
    chosen.registry.register_executor(Fields())
    rules = ({**BOTH, **first}, {**BOTH, "expr": "b", **second})
    assert carry_out(*rules, with_settings=chosen) == written
    assert carry_out(*rules, with_settings=chosen, mode="READ") == read


def test_rules_on_messages_may_repeat_tags():
    assert carry_out(BOTH, {**BOTH, "expr": "b"}) == "xab"


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("rule.executors.r0.onfailure", "NONE", "unknown; expected rule.executors.<rule name, _TYPE_ or _default_>"),
        ("rule.executors.r0", "NONE", "unknown; expected rule.executors.<rule name, _TYPE_ or _default_>"),
        ("rule.executors..disabled", "true", "unknown; expected rule.executors.<rule name, _TYPE_ or _default_>"),
        ("rule.executors.r0.disabled", "perhaps", "must be"),
        ("rule.executors.r0.onFailure", "", "must be the name of an action"),
        ("execution.environment", "MARS", "CLIENT"),
        ("magicbyte.rules.show.values", "perhaps", "must be"),
    ],
)
def test_wrong_settings_are_refused(name: str, value: Any, problem: str):
    with pytest.raises(ConfigError, match=problem) as refused:
        AvroSerializerConfig.load({name: value})
    assert refused.value.name == name


def test_parameters_of_executors_have_three_spellings():
    chosen = AvroSerializerConfig.load(
        {
            "rule.executors._default_.param.a": "default",
            "rule.executors._default_.param.b": "default",
            "rule.executors._default_.param.c.d": "default",
            "rule.executors._CEL_.param.b": "type",
            "rule.executors._cel_.param.e": "type",
            "rule.executors.check.param.c.d": "name",
            "rule.executors": "check",
            "rule.executors.check.class": "com.acme.Executor",
        }
    ).rules({"f": "argument", "a": "argument"}, None)
    assert chosen.parameters("check", "CEL") == {
        "a": "argument",
        "b": "type",
        "c.d": "name",
        "e": "type",
        "f": "argument",
    }
    assert chosen.parameters("other", "JSONATA") == {
        "a": "argument",
        "b": "default",
        "c.d": "default",
        "f": "argument",
    }


def test_the_cause_answers_to_confluents_names():
    rule = {"name": "r", "kind": "CONDITION", "mode": "WRITE", "type": "APPEND", "expr": "y"}
    plan = rules_plan(Ruled("n", TEXT, {"domainRules": [rule]}, subject="s", schema_id=9), "WRITE", settings())
    with pytest.raises(RuleFailed) as raised:
        plan.run("x", Message("s", None, False, None, "x"))
    failure = raised.value
    assert isinstance(failure.__cause__, RuleConditionError)
    assert str(failure.__cause__) == "Rule expr failed: y"
    assert (failure.rule, failure.type, failure.mode, failure.subject) == ("r", "APPEND", "WRITE", "s")
    assert (failure.schema_id, failure.version, failure.path, failure.value_type) == (9, None, "", "str")
    assert str(failure) == "rule 'r' (APPEND, WRITE) of subject s schema id 9 failed: y"
    copied = pickle.loads(pickle.dumps(failure))
    assert copied == failure
    assert str(copied.cause) == "Rule expr failed: y"
