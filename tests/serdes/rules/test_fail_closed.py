"""A rule that cannot be carried out stops the message: nothing is written, and nothing is handed out."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from serdes import AvroDeserializer, AvroSerializer, ProtobufDeserializer, ProtobufSerializer, SerializationContext
from serdes.client.clients import RegistryClient
from serdes.error import SerializationError
from serdes.rules.confluent import RuleExecutor, RuleRegistry
from serdes.rules.error import RuleFailed
from tests.serdes.rules.conftest import ADA, PERSON, Register

VALUE = SerializationContext("people", "value", [])
RULE = {"kind": "TRANSFORM", "mode": "WRITEREAD", "expr": "value", "tags": ["PII"]}


class Unconfigured(RuleExecutor):
    """An executor without the setting that it needs."""

    def configure(self, client_conf: Any, rule_conf: Any) -> None:  # noqa: ARG002  # the signature of all executors
        if "key.file" not in rule_conf:
            raise ValueError("key.file is not set")

    def type(self) -> str:
        return "SIGN"

    def transform(self, ctx: Any, message: Any) -> Any:  # noqa: ARG002  # the signature of all executors
        return message


SIGNING = RuleRegistry()
SIGNING.register_executor(Unconfigured())

#: A rule, the list that holds it, and the reason with the remedy.
CASES: list[tuple[dict[str, Any], str, str]] = [
    ({"type": "NOSUCH"}, "domainRules", "Could not find rule executor of type NOSUCH; register one with"),
    ({"type": "NOSUCH"}, "encodingRules", "Could not find rule executor of type NOSUCH; register one with"),
    ({"type": "ENCRYPT"}, "domainRules", "encryption is not supported: rules of type ENCRYPT cannot be carried out"),
    ({"type": "encrypt"}, "domainRules", "encryption is not supported: rules of type ENCRYPT cannot be carried out"),
    ({"type": "ENCRYPT", "onFailure": "NONE"}, "domainRules", "register an executor of this type in a RuleRegistry"),
    ({"type": "ENCRYPT_PAYLOAD"}, "encodingRules", "encryption is not supported: rules of type ENCRYPT_PAYLOAD"),
    ({"type": "ENCRYPT_PAYLOAD", "onFailure": "NONE,NONE"}, "encodingRules", "encryption is not supported"),
    ({"type": "CEL", "expr": "true"}, "encodingRules", "rules of type CEL cannot be encoding rules; move the rule to"),
    ({"type": "REDACT"}, "encodingRules", "rules of type REDACT cannot be encoding rules; move the rule to domain"),
    ({"type": "SIGN"}, "domainRules", "its executor cannot start: ValueError: key.file is not set"),
    ({"type": "REDACT", "tags": ["AGE"]}, "domainRules", "the field acme.Person.age has a tag of the rule, but a INT"),
    ({"type": "CEL_FIELD", "expr": "value +"}, "domainRules", "the expression 'value +' is invalid"),
    ({"type": "CEL_FIELD", "expr": None}, "domainRules", "the rule has no expression: set expr"),
    (
        {"type": "CEL_FIELD", "onSuccess": "NOSUCH"},
        "domainRules",
        "Could not find rule action of type NOSUCH; register",
    ),
    ({"type": "NOSUCH", "onFailure": "NOSUCH"}, "domainRules", "Could not find rule action of type NOSUCH; register"),
    ({"type": "JSONATA", "expr": "$$$("}, "domainRules", "it is no JSONATA expression"),
]


@pytest.mark.parametrize(("phase", "kind"), [("domainRules", "ENCRYPT"), ("encodingRules", "ENCRYPT_PAYLOAD")])
def test_no_header_lets_a_message_pass_a_rule_of_encryption(
    client: RegistryClient, register: Register, phase: str, kind: str
):
    plain = AvroSerializer(client, PERSON, conf={"execution.environment": "NONE"})
    register(**{phase: [{"name": "culprit", **RULE, "type": kind}]})
    message = plain(ADA, VALUE)
    replayed = SerializationContext("people", "value", [("__rule.name", b"culprit")])
    for work in (
        lambda: AvroSerializer(client, PERSON)(ADA, replayed),
        lambda: AvroDeserializer(client)(message, replayed),
    ):
        with pytest.raises(RuleFailed, match="encryption is not supported"):
            work()


@pytest.mark.parametrize(("rule", "phase", "problem"), CASES)
def test_nothing_is_written_and_nothing_handed_out(
    client: RegistryClient, register: Register, rule: dict[str, Any], phase: str, problem: str
):
    plain = AvroSerializer(client, PERSON, conf={"execution.environment": "NONE"})
    metadata = {"tags": {"acme.Person.age": ["AGE"]}}
    full = {name: value for name, value in {"name": "culprit", **RULE, **rule}.items() if value is not None}
    register(metadata=metadata, **{phase: [full]})
    message = plain(ADA, VALUE)
    for work in (
        lambda: AvroSerializer(client, PERSON, rule_registry=SIGNING)(ADA, VALUE),
        lambda: AvroDeserializer(client, rule_registry=SIGNING)(message, VALUE),
    ):
        with pytest.raises(RuleFailed, match=r"rule 'culprit' \(.*\) of subject people-value") as failed:
            work()
        assert problem in str(failed.value)
        assert "ada" not in str(failed.value)


WITHOUT_EXTRA = """
import sys
sys.modules["cel_expr_python"] = sys.modules["jsonata"] = None
from compat.schema import SchemaText
from serdes.rules.context import Message, Ruled
from serdes.rules.plan import rules_plan
from serdes.rules.settings import RuleSettings
for type_name in ("CEL", "CEL_FIELD", "JSONATA"):
    rule = {"name": "culprit", "kind": "TRANSFORM", "mode": "WRITE", "type": type_name, "expr": "value"}
    plan = rules_plan(Ruled("n", SchemaText("AVRO", '"string"'), {"domainRules": [rule]}), "WRITE", RuleSettings())
    try:
        print(plan.run("x", Message("s", None, False, None, "x")))
    except Exception as error:
        print(error)
"""


def test_a_missing_extra_is_named():
    done = subprocess.run([sys.executable, "-P", "-c", WITHOUT_EXTRA], capture_output=True, text=True, check=True)
    failures = done.stdout.splitlines()
    assert len(failures) == 3
    for type_name, failure in zip(("CEL", "CEL_FIELD", "JSONATA"), failures, strict=True):
        assert failure.startswith(f"rule 'culprit' ({type_name}, WRITE) of the schema failed: ")
        assert "magicbyte[rules]" in failure


def test_serdes_without_rules_loads_no_engine():
    script = (
        "import sys, serdes; serdes.AvroSerializer, serdes.JSONSerializer, serdes.ProtobufSerializer; "
        "print([name for name in ('cel_expr_python', 'jsonata', 'confluent_kafka') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("rule_set", "problem"),
    [
        ({"domainRules": "all"}, "ruleSet.domainRules must be an array"),
        ({"domainRules": [{"name": "r", "mode": "WRITE", "params": {"a": 1}}]}, "rule.params.a must be a string"),
    ],
)
def test_a_rule_set_that_cannot_be_read_stops_the_message(
    client: RegistryClient, register: Register, monkeypatch: pytest.MonkeyPatch, rule_set: Any, problem: str
):
    registered = register()
    object.__setattr__(registered, "rule_set", rule_set)
    monkeypatch.setattr(AvroSerializer, "registered", lambda *_: _flow(registered))
    with pytest.raises(SerializationError, match=problem):
        AvroSerializer(client, PERSON)(ADA, VALUE)


def _flow(result: Any) -> Any:
    yield from ()
    return result


MAP = """syntax = "proto3"; package acme; import "confluent/meta.proto";
message Labels { map<string, string> labels = 1 [(confluent.field_meta).tags = "PII"]; }
"""


def test_a_tagged_protobuf_map_cannot_be_redacted(
    client: RegistryClient, register: Register, protobuf_classes: Callable[[dict[str, str]], Callable[[str], Any]]
):
    plain_text = MAP.replace('import "confluent/meta.proto";', "").replace('[(confluent.field_meta).tags = "PII"]', "")
    labels = protobuf_classes({"acme.proto": plain_text})("acme.Labels")(labels={"a": "b"})
    register({**RULE, "type": "REDACT"}, schema=MAP, schema_type="PROTOBUF")
    conf = {"auto.register.schemas": False, "use.latest.version": True}
    with pytest.raises(RuleFailed, match=r"acme\.Labels\.labels has a tag of the rule, but a MAP cannot be redacted"):
        ProtobufSerializer(type(labels), client, conf=conf)(labels, VALUE)
    message = b"\0\0\0\0\1\0" + labels.SerializeToString()
    with pytest.raises(RuleFailed, match=r"acme\.Labels\.labels has a tag of the rule, but a MAP cannot be redacted"):
        ProtobufDeserializer(type(labels), schema_registry_client=client)(message, VALUE)
