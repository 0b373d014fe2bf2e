"""Random rule sets with messages, and what this library and confluent-kafka make of them."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import confluent_kafka.schema_registry as theirs
from confluent_kafka.schema_registry import avro as their_avro
from confluent_kafka.schema_registry.rules.cel.cel_executor import CelExecutor
from confluent_kafka.schema_registry.rules.cel.cel_field_executor import CelFieldExecutor
from confluent_kafka.serialization import SerializationContext as TheirContext
from confluent_kafka.serialization import SerializationError as TheirError

import serdes
from compat.schema import SchemaText
from serdes.client.clients import RegistryClient

TAGS = ("PII", "SECRET", "INNER")
#: Fields of records: a type, a function to a value, and conditions that both libraries evaluate alike. They disagree by
#: design on null, on ints beside doubles, on conditions that are no bools, and on items of arrays and maps. A field of
#: false fails all conditions on fields in confluent-kafka, whether a rule selects it or not.
FIELDS: dict[str, tuple[Any, Callable[[Random], Any], tuple[str, ...]]] = {
    "name": (
        "string",
        lambda r: r.choice(["ada", "eve", "", "Zoë"]),
        ("message.name != 'eve'", "size(message.name) > 2"),
    ),
    "age": ("int", lambda r: r.randint(-2, 90), ("message.age >= 18", "message.age / message.age == 1")),
    "total": ("long", lambda r: r.choice([0, 5, 2**40]), ("message.total > 4", "message.total % 2 == 1")),
    "score": ("double", lambda r: r.choice([0.5, -1.0, 2.25]), ("message.score < 1.0",)),
    "ok": ("boolean", lambda _: True, ("message.ok", "!message.ok || message.age > 18")),
    "raw": ("bytes", lambda r: r.choice([b"", b"\0\xff", b"abc"]), ("size(message.raw) == 2",)),
    "kind": (
        {"type": "enum", "name": "Kind", "symbols": ["A", "B"]},
        lambda r: r.choice("AB"),
        ("message.kind == 'A'", "message.kind in ['B']"),
    ),
    "tags": (
        {"type": "array", "items": "string"},
        lambda r: r.choices(["x", "y"], k=r.randint(0, 3)),
        ("'x' in message.tags", "message.tags.all(t, t == 'x')"),
    ),
    "props": (
        {"type": "map", "values": "string"},
        lambda r: r.choice([{}, {"k": "v"}]),
        ("size(message.props) == 1", "message.props['k'] == 'v'"),
    ),
    "home": (
        {
            "type": "record",
            "name": "Home",
            "fields": [
                {"name": "street", "type": "string", "confluent:tags": ["INNER"]},
                {"name": "no", "type": "int"},
            ],
        },
        lambda r: {"street": r.choice(["s", "High St"]), "no": r.randint(0, 2)},
        ("message.home.no == 1", "message.home.street.startsWith('High')"),
    ),
}
#: Conditions and transformations of CEL_FIELD.
FIELD_CONDITIONS = (
    "name == 'name' ; value != 'eve'",
    "name == 'age' ; value > 10",
    "name == 'ok' ; value",
    "fullName == 'acme.R.total' ; value != 5",
)
FIELD_TRANSFORMS = (
    "typeName == 'STRING' ; value + '!'",
    "typeName == 'INT' ; value + 1",
    "typeName == 'DOUBLE' ; value * 2.0",
    "typeName == 'LONG' ; value - 1",
)
_IN_COLLECTIONS = frozenset({"tags", "props"})


def random_case(random: Random) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """A schema, a rule set, and a message."""
    names = random.sample(sorted(FIELDS), random.randint(4, len(FIELDS)))
    names += [name for name in ("age", "name") if name not in names]
    fields, datum = [], {}
    for name in names:
        type_name, make, _ = FIELDS[name]
        tags = [] if name in _IN_COLLECTIONS else [tag for tag in TAGS[:2] if random.random() < 0.3]
        fields.append({"name": name, "type": type_name, **({"confluent:tags": tags} if tags else {})})
        datum[name] = make(random)
    rules = [_rule(random, index, names) for index in range(random.randint(1, 4))]
    schema = json.dumps({"type": "record", "name": "R", "namespace": "acme", "fields": fields})
    place = random.choice([None, None, None, "ALL", "CLIENT", "NONE", "SERVER"])
    return schema, {"domainRules": rules, **({"enableAt": place} if place else {})}, datum


def _rule(random: Random, index: int, names: list[str]) -> dict[str, Any]:
    mode = random.choice(["WRITE", "READ", "WRITEREAD"])
    rule: dict[str, Any] = {"name": f"r{index}", "mode": mode, "kind": "CONDITION"}
    by_field = random.random() < 0.6
    if by_field:
        changes = random.random() < 0.6
        rule |= {"type": "CEL_FIELD", "kind": "TRANSFORM" if changes else "CONDITION"}
        rule["expr"] = random.choice(FIELD_TRANSFORMS if changes else FIELD_CONDITIONS)
        # Conditions without tags would reach items of arrays and maps, on which confluent-kafka never fails.
        if not changes or random.random() < 0.7:
            rule["tags"] = random.sample(TAGS, random.randint(1, 2))
    else:
        name = random.choice([name for name in names if FIELDS[name][2]])
        rule |= {"type": "CEL", "expr": random.choice(FIELDS[name][2])}
        if random.random() < 0.2:
            rule["expr"] = f"message.age > 20 ; {rule['expr']}"
    actions = ["NONE", "ERROR"] + (["NONE,ERROR", "ERROR,NONE"] if mode == "WRITEREAD" else [])
    if random.random() < 0.5:
        rule["onFailure"] = random.choice(actions)
    if random.random() < 0.1:
        rule["onSuccess"] = random.choice(actions)
    # Confluent-kafka takes a disabled rule for the first of two on the same tags.
    if random.random() < 0.1 and not rule.get("tags"):
        rule["disabled"] = True
    return rule


class Both:
    """This library and confluent-kafka, on one registry."""

    def __init__(self, url: str) -> None:
        CelExecutor.register()
        CelFieldExecutor.register()
        self._client = RegistryClient(url)
        self._theirs = theirs.SchemaRegistryClient({"url": url})

    def differences(self, number: int, random: Random) -> list[str]:
        """The differences between the two in a random case."""
        schema, rule_set, datum = random_case(random)
        topic = f"random-{number}"
        self._client.register(f"{topic}-value", SchemaText("AVRO", schema), rule_set=rule_set)
        conf = {"auto.register.schemas": False, "use.latest.version": True}
        our_write, our_read = serdes.AvroSerializer(self._client, conf=conf), serdes.AvroDeserializer(self._client)
        their_write, their_read = (
            their_avro.AvroSerializer(self._theirs, conf=conf),
            their_avro.AvroDeserializer(self._theirs),
        )
        context = serdes.SerializationContext(topic, "value", [])
        their_context = TheirContext(topic, "value", [])
        before = copy.deepcopy(datum)
        written = _outcome(lambda: our_write(datum, context))
        found = [] if datum == before else [f"the input changed: {before} to {datum}"]
        other = _outcome(lambda: their_write(copy.deepcopy(datum), their_context))
        if written != other:
            found.append(f"written: {written!r} and {other!r}")
        plain = serdes.AvroSerializer(self._client, conf={**conf, "execution.environment": "NONE"})(datum, context)
        for message in (written, other, plain):
            if isinstance(message, bytes):
                read = _outcome(partial(our_read, message, context))
                other_read = _outcome(partial(their_read, message, their_context))
                if read != other_read:
                    found.append(f"read: {read!r} and {other_read!r}")
        return [f"case {number}: {difference}; {schema} {json.dumps(rule_set)} {datum}" for difference in found]


def _outcome(function: Callable[[], Any]) -> Any:
    """The result, or that the message was stopped."""
    try:
        return function()
    except (serdes.SerializationError, TheirError):
        return "stopped"
