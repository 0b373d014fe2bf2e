"""Users of confluent-kafka's rules change their imports and nothing else."""

from __future__ import annotations

import inspect
from typing import Any

import confluent_kafka.schema_registry.rule_registry as their_registry
import confluent_kafka.schema_registry.serde as their_serde
import pytest

import serdes.rules.confluent as ours
from serdes import AvroDeserializer, AvroSerializer, Schema, SerializationContext, SerializationError
from serdes.client.clients import RegistryClient
from serdes.error import ConfigError
from serdes.rules.confluent import (
    CelExecutor,
    CelFieldExecutor,
    DlqAction,
    FieldContext,
    FieldRuleExecutor,
    JsonataExecutor,
    RuleAction,
    RuleConditionError,
    RuleContext,
    RuleExecutor,
    RuleOverride,
    RuleRegistry,
)
from serdes.rules.error import RuleFailed
from tests.serdes.rules.conftest import ADA, PERSON, Register

VALUE = SerializationContext("people", "value", [])


@pytest.mark.parametrize(
    "name",
    [
        "FieldContext",
        "FieldRuleExecutor",
        "FieldType",
        "RuleAction",
        "RuleBase",
        "RuleConditionError",
        "RuleContext",
        "RuleExecutor",
        "RuleOverride",
        "RuleRegistry",
    ],
)
def test_each_class_has_the_attributes_of_confluents_class(name: str):
    theirs = getattr(their_serde, name, None) or getattr(their_registry, name)
    mine = getattr(ours, name)
    public = {attribute for attribute in dir(theirs) if not attribute.startswith("_")}
    # Attributes of dataclasses are fields, which their class lacks until it is made.
    fields = set(getattr(mine, "__dataclass_fields__", ()))
    assert public <= set(dir(mine)) | fields
    parameters = [list(inspect.signature(kind).parameters) for kind in (theirs, mine)]
    assert parameters[1][: len(parameters[0])] == parameters[0]


class Mask(FieldRuleExecutor):
    """Masks a field, with a parameter and a setting."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def configure(self, client_conf: Any, rule_conf: Any) -> None:  # noqa: ARG002  # the signature of all executors
        self.mark = rule_conf.get("mask.mark", "*")

    def type(self) -> str:
        return "MASK"

    def new_transform(self, ctx: RuleContext) -> Any:
        times = int(ctx.get_parameter("times") or 1)

        def transform(ctx: RuleContext, field_ctx: FieldContext, value: Any) -> Any:
            assert ctx.current_field() is field_ctx
            self.seen.append((field_ctx.full_name, field_ctx.type_name(), sorted(field_ctx.tags), ctx.subject))
            if not field_ctx.is_primitive() or value is None:
                return value
            return value != "eve" if ctx.rule.kind == "CONDITION" else self.mark * times

        return transform


def masking(mask: Mask) -> RuleRegistry:
    registry = RuleRegistry()
    registry.register_executor(mask)
    return registry


def test_a_custom_executor_of_fields(client: RegistryClient, register: Register):
    rule = {"kind": "TRANSFORM", "mode": "WRITE", "type": "mask", "tags": ["PII"]}
    register({**rule, "params": {"times": "3"}}, rule, metadata={"properties": {"times": "2"}})
    mask = Mask()
    write = AvroSerializer(client, PERSON, rule_conf={"mask.mark": "x"}, rule_registry=masking(mask))
    read = AvroDeserializer(client)
    for _ in range(2):
        assert read(write(ADA, VALUE), VALUE) == {**ADA, "name": "xxx", "mail": "xxx"}
    assert mask.seen[:2] == [
        ("acme.Person.name", "STRING", ["PII"], "people-value"),
        ("acme.Person.mail", "STRING", ["MAIL", "PII"], "people-value"),
    ]
    assert ADA["name"] == "ada"


def test_a_custom_condition_on_fields(client: RegistryClient, register: Register):
    register({"kind": "CONDITION", "mode": "WRITE", "type": "MASK", "tags": ["PII"]})
    write = AvroSerializer(client, PERSON, rule_registry=masking(Mask()))
    assert write(ADA, VALUE)
    with pytest.raises(RuleFailed, match="failed at name: Rule failed: rule0") as failed:
        write({**ADA, "name": "eve"}, VALUE)
    assert isinstance(failed.value.__cause__, RuleConditionError)


class Country(RuleExecutor):
    """Tests or sets a country."""

    def type(self) -> str:
        return "COUNTRY"

    def transform(self, ctx: RuleContext, message: Any) -> Any:
        assert isinstance(ctx.target, Schema)
        assert ctx.target.schema_str == PERSON
        if message["name"] == "broken":
            raise ValueError("broken: " + message["mail"])
        if ctx.rule.kind == "CONDITION":
            return message["name"] == ctx.rule.expr
        return {**message, "name": f"{ctx.rule.expr} {ctx.rule_mode.value} {ctx.index} {ctx.original_value['name']}"}


def test_a_custom_executor_of_messages(client: RegistryClient, register: Register):
    register(
        {"kind": "TRANSFORM", "mode": "WRITE", "type": "COUNTRY", "expr": "GB"},
        {"kind": "CONDITION", "mode": "WRITE", "type": "COUNTRY", "expr": "GB WRITE 0 ada"},
    )
    RuleRegistry.register_rule_executor(Country())
    write = AvroSerializer(client, PERSON)
    assert AvroDeserializer(client)(write(ADA, VALUE), VALUE)["name"] == "GB WRITE 0 ada"
    with pytest.raises(RuleFailed, match="rule 'rule1'"):
        write({**ADA, "name": "eve"}, VALUE)
    # The text of an exception that no rule raises on purpose may have values.
    with pytest.raises(RuleFailed, match="failed: GB: the executor raised ValueError") as failed:
        write({**ADA, "name": "broken", "mail": "secret"}, VALUE)
    assert "secret" not in str(failed.value)
    assert isinstance(failed.value.__cause__, ValueError)


class Letters(RuleAction):
    """Keeps what failed; raises what it is told to."""

    def __init__(self, problem: Exception | None = None) -> None:
        self.kept: list[Any] = []
        self._problem = problem

    def type(self) -> str:
        return "LETTERS"

    def run(self, ctx: RuleContext, message: Any, ex: Exception | None) -> None:
        self.kept.append((ctx.rule.name, ctx.rule_mode.value, message["age"], type(ex).__name__))
        if self._problem is not None:
            raise self._problem


FAILING = {"kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "message.age < 18", "onFailure": "LETTERS"}


def test_a_custom_action(client: RegistryClient, register: Register):
    register(FAILING, {"kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "true", "onSuccess": "LETTERS"})
    letters = Letters()
    RuleRegistry.register_rule_action(letters)
    assert AvroSerializer(client, PERSON)(ADA, VALUE)
    assert letters.kept == [("rule0", "WRITE", 36, "RuleConditionError"), ("rule1", "WRITE", 36, "NoneType")]


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        (SerializationError("no more"), "no more"),
        (KeyError("x"), r"rule 'rule0' .* failed: .*: the action LETTERS raised KeyError"),
    ],
)
def test_an_exception_of_a_custom_action_stops_the_message(
    client: RegistryClient, register: Register, problem: Exception, text: str
):
    register(FAILING)
    RuleRegistry.register_rule_action(Letters(problem))
    with pytest.raises(SerializationError, match=text):
        AvroSerializer(client, PERSON)(ADA, VALUE)


def test_own_executors_may_be_registered(client: RegistryClient, register: Register):
    register(
        {"kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "message.age > 18"},
        {"kind": "TRANSFORM", "mode": "WRITE", "type": "CEL_FIELD", "tags": ["PII"], "expr": "value + '!'"},
        {"kind": "CONDITION", "mode": "WRITE", "type": "JSONATA", "expr": "age > 18"},
    )
    for executor in (CelExecutor, CelFieldExecutor, JsonataExecutor):
        executor.register()
    assert isinstance(DlqAction.register({"dlq.topic": "letters"}), DlqAction)
    read = AvroDeserializer(client)
    assert read(AvroSerializer(client, PERSON)(ADA, VALUE), VALUE)["name"] == "ada!"
    RuleRegistry.register_rule_override(RuleOverride("CEL_FIELD", None, None, True))
    assert read(AvroSerializer(client, PERSON)(ADA, VALUE), VALUE)["name"] == "ada"


@pytest.mark.parametrize("arguments", [{"rule_conf": "x"}, {"rule_registry": "x"}])
def test_wrong_arguments_are_refused(client: RegistryClient, arguments: dict[str, Any]):
    with pytest.raises(ConfigError, match="must be a"):
        AvroSerializer(client, PERSON, **arguments)


def test_confluents_own_executors_work(client: RegistryClient, register: Register):
    class Theirs(their_serde.FieldRuleExecutor):  # type: ignore[misc,name-defined]  # the library has no types
        def type(self) -> str:
            return "UPPER"

        def new_transform(self, ctx: Any) -> Any:  # noqa: ARG002  # the signature of all executors
            return lambda _ctx, _field, value: value.upper()

    register({"kind": "TRANSFORM", "mode": "WRITE", "type": "UPPER", "tags": ["PII"]})
    RuleRegistry.register_rule_executor(Theirs())
    assert AvroDeserializer(client)(AvroSerializer(client, PERSON)(ADA, VALUE), VALUE)["name"] == "ADA"
