"""Fuzzing of the CEL adapter: random schemas, data, and expressions with the types of their fields.

A well-typed expression is accepted and evaluates to what Python computes; a mistyped one is refused, and the error
names the field; every value goes into the engine and comes back the same. Run `python tests/fuzz/fuzz_cel.py --seconds
600 --seed 1`; a failure prints the seed of its round. The test suite runs some rounds.
"""

from __future__ import annotations

import argparse
import json
import operator
import random
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from compat.contracts.cel.checking import check_expression
from compat.contracts.cel.declarations import CelType, evaluated
from compat.contracts.cel.errors import ExpressionInvalid
from compat.contracts.cel.expression import compile_expression
from compat.contracts.cel.schema_types.types import schema_types
from compat.formats import parse
from compat.protobuf.schema import ProtobufSchema
from compat.schema import AVRO, JSON, PROTOBUF, SchemaText

OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
SCALARS = {
    AVRO: ("int", "double", "string", "bytes", "bool", "timestamp", "enum"),
    JSON: ("int", "double", "string", "bool", "enum"),
    PROTOBUF: ("int", "double", "string", "bytes", "bool", "timestamp"),
}
TEXTS = ("", "a", "abc", "a\0b", "\0", "\u00e9\U0001f600", "it's", 'a"b\\n', "x" * 300)
MILLENNIUM = datetime(2000, 1, 1, tzinfo=UTC)
MISTYPED = {
    "int": ("{} == 'x'", "{}.startsWith('a')", "{} && true", "{} + 'a' == 'b'", "{} < now"),
    "double": ("{} == 'x'", "{} && true", "{} + 1 > 2.0", "{} == b'a'"),
    "string": ("{} > 3", "{} && true", "{} + 1 == 'a'", "{} == b'a'"),
    "enum": ("{} > 3", "{} == 1"),
    "bytes": ("{} == 'x'", "{} > 3", "{}.startsWith('a')"),
    "bool": ("{} > 3", "{} == 'x'", "{}.size() == 1"),
    "timestamp": ("{} > 3", "{} == 'x'", "{}.size() == 1"),
    "list": ("{} == 3", "{} && true", "{}.startsWith('a')"),
    "map": ("{} == 3", "{} && true"),
    "record": ("{}.zz == 1", "{}.zz.yy", "{} == 3", "{} && true"),
}


@dataclass
class Kind:
    """The type of a field: a scalar, `list`, `map` or `record`."""

    name: str
    inner: Kind | None = None
    fields: dict[str, Kind] = field(default_factory=dict)
    nullable: bool = False
    title: str = ""


class Maker:
    """A random schema with data that fit it, and expressions about them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.format = self.random.choice((AVRO, JSON, PROTOBUF))
        self.records = 0
        self.variables = 0
        self.root = self.record(3)

    def record(self, depth: int) -> Kind:
        self.records += 1
        made = Kind("record", title=f"R{self.records}")
        for number in range(self.random.randint(1, 4)):
            made.fields[f"f{number}"] = self.kind(depth - 1)
        return made

    def kind(self, depth: int) -> Kind:
        chosen = self.random.choice(("scalar", "scalar", "record", "list", "map")) if depth > 0 else "scalar"
        if chosen == "record":
            made = self.record(depth)
            made.nullable = self.format == AVRO and self.random.random() < 0.3
            return made
        if chosen == "scalar":
            return Kind(self.random.choice(SCALARS[self.format]), nullable=self.random.random() < 0.3)
        # Protobuf has no lists of lists, and a nullable list is of any type.
        inner = self.kind(depth - 1)
        while inner.name in ("list", "map"):
            inner = self.kind(depth - 1)
        inner.nullable = False
        return Kind(chosen, inner)

    def value(self, kind: Kind) -> Any:
        if kind.nullable and self.random.random() < 0.4:
            return None
        if kind.name == "record":
            return {name: self.value(inner) for name, inner in kind.fields.items()}
        if kind.inner is not None:
            items = [self.value(kind.inner) for _ in range(self.random.randint(0, 3))]
            return items if kind.name == "list" else {f"k{at}": item for at, item in enumerate(items)}
        return self.scalar(kind.name)

    def scalar(self, name: str) -> Any:
        chosen: dict[str, Callable[[], Any]] = {
            "int": lambda: self.random.choice((0, 1, -7, 2**31 - 1, -(2**31))),
            "double": lambda: self.random.choice((0.0, 1.5, -2.25, 1e300, 3.0)),
            "string": lambda: self.random.choice(TEXTS),
            "bytes": lambda: self.random.choice((b"", b"\0", b"a\0\xff", b"ab")),
            "bool": lambda: self.random.random() < 0.5,
            "enum": lambda: self.random.choice("ABC"),
            "timestamp": lambda: MILLENNIUM + timedelta(seconds=self.random.randint(-(10**9), 10**9)),
        }
        return chosen[name]()

    def expression(self, kind: Kind, path: str) -> tuple[str, Callable[[Any], bool]]:
        """A condition on the value at a path, and the function that computes it."""
        if kind.nullable:
            text, compute = self.expression(Kind(kind.name, kind.inner, kind.fields, title=kind.title), path)
            if self.format == PROTOBUF:
                return f"(has({path}) && {text})", lambda value: value is not None and compute(value)
            if self.random.random() < 0.5:
                return f"({path} == null || {text})", lambda value: value is None or compute(value)
            return f"({path} != null && {text})", lambda value: value is not None and compute(value)
        if kind.name == "record":
            name, inner = self.random.choice(list(kind.fields.items()))
            text, compute = self.expression(inner, f"{path}.{name}")
            return text, lambda value: compute(value[name])
        if kind.name in ("list", "map"):
            return self.container(kind, path)
        return self.comparison(kind.name, path)

    def container(self, kind: Kind, path: str) -> tuple[str, Callable[[Any], bool]]:
        assert kind.inner is not None
        symbol, size = self.random.choice(list(OPERATORS)), self.random.randint(0, 3)
        chosen = self.random.choice(("size", "all", "exists"))
        if chosen == "size":
            return f"{path}.size() {symbol} {size}", lambda value: OPERATORS[symbol](len(value), size)
        self.variables += 1
        variable = f"x{self.variables}"
        if kind.name == "map":
            text, compute = self.expression(kind.inner, f"{path}[{variable}]")
        else:
            text, compute = self.expression(kind.inner, variable)
        summed = all if chosen == "all" else any
        return f"{path}.{chosen}({variable}, {text})", lambda value: summed(
            compute(item) for item in (value.values() if kind.name == "map" else value)
        )

    def comparison(self, name: str, path: str) -> tuple[str, Callable[[Any], bool]]:
        if name == "bool":
            return self.random.choice(((path, bool), (f"!{path}", operator.not_)))
        symbol = self.random.choice(list(OPERATORS) if name != "enum" else ["==", "!="])
        compare = OPERATORS[symbol]
        other = self.scalar(name)
        if name in ("int", "double") and self.random.random() < 0.3:
            other = float(other) if name == "int" else int(max(-10, min(other, 10)))
        if name in ("string", "bytes") and self.random.random() < 0.3:
            size = self.random.randint(0, 3)
            return f"{path}.size() {symbol} {size}", lambda value: compare(len(value), size)
        text = f"{path} {symbol} {literal(other)}"
        if name == "string":
            return text, lambda value: compare(value.encode(), other.encode())
        return text, lambda value: compare(value, other)

    def mistyped(self, kind: Kind, path: str) -> tuple[str, str]:
        """An expression whose types do not fit, and the name that the error must have."""
        if kind.name == "record" and self.random.random() < 0.7:
            name, inner = self.random.choice(list(kind.fields.items()))
            return self.mistyped(inner, f"{path}.{name}")
        template = self.random.choice(MISTYPED[kind.name])
        return template.format(path), "zz" if "zz" in template else path


def literal(value: Any) -> str:
    """A value as CEL writes it."""
    if isinstance(value, str):
        return '"' + "".join(f"\\U{ord(letter):08x}" for letter in value) + '"'
    if isinstance(value, bytes):
        return "b'" + "".join(f"\\x{byte:02x}" for byte in value) + "'"
    if isinstance(value, datetime):
        return f"timestamp('{value.isoformat()}')"
    return repr(value).replace("e+", "e")


def avro(kind: Kind) -> Any:
    """A kind as an Avro schema."""
    plain: Any = {
        "int": "long",
        "bool": "boolean",
        "timestamp": {"type": "long", "logicalType": "timestamp-micros"},
        "enum": {"type": "enum", "name": f"E{id(kind)}", "symbols": ["A", "B", "C"]},
    }.get(kind.name, kind.name)
    if kind.name == "record":
        members = [{"name": name, "type": avro(inner)} for name, inner in kind.fields.items()]
        plain = {"type": "record", "name": kind.title, "namespace": "a.b", "fields": members}
    elif kind.inner is not None:
        inner = avro(kind.inner)
        plain = {"type": "array", "items": inner} if kind.name == "list" else {"type": "map", "values": inner}
    return ["null", plain] if kind.nullable else plain


def json_schema(kind: Kind) -> Any:
    """A kind as a JSON Schema."""
    if kind.name == "record":
        properties = {name: json_schema(inner) for name, inner in kind.fields.items()}
        return {"type": "object", "properties": properties, "required": list(properties)}
    if kind.name == "enum":
        return {"enum": ["A", "B", "C", *([None] if kind.nullable else [])]}
    if kind.inner is not None:
        return {
            "list": {"type": "array", "items": json_schema(kind.inner)},
            "map": {"type": "object", "additionalProperties": json_schema(kind.inner)},
        }[kind.name]
    name = {"int": "integer", "double": "number", "bool": "boolean"}.get(kind.name, kind.name)
    return {"type": [name, "null"] if kind.nullable else name}


def protobuf(root: Kind) -> str:
    """A record as a Protobuf file."""
    scalars = {"int": "int64", "timestamp": "google.protobuf.Timestamp"}
    messages: list[str] = []

    def type_name(kind: Kind) -> str:
        if kind.name == "record":
            messages.append(message(kind))
            return kind.title
        return scalars.get(kind.name, kind.name)

    def message(record: Kind) -> str:
        lines = []
        for number, (name, kind) in enumerate(record.fields.items(), start=1):
            inner = kind.inner or kind
            prefix = {"list": "repeated ", "map": ""}.get(kind.name, "optional " if kind.nullable else "")
            declared = f"map<string, {type_name(inner)}>" if kind.name == "map" else prefix + type_name(inner)
            lines.append(f"  {declared} {name} = {number};")
        return f"message {record.title} {{\n" + "\n".join(lines) + "\n}\n"

    first = message(root)
    return 'syntax = "proto3";\nimport "google/protobuf/timestamp.proto";\npackage a.b;\n' + first + "".join(messages)


def fill(message: Any, kind: Kind, value: dict[str, Any]) -> Any:
    """A message with the values of a record."""
    for name, inner in kind.fields.items():
        item = value[name]
        if item is None:
            continue
        if inner.name == "record":
            getattr(message, name).SetInParent()
            fill(getattr(message, name), inner, item)
        elif inner.name == "timestamp":
            getattr(message, name).FromDatetime(item)
        elif inner.inner is None:
            setattr(message, name, item)
        else:
            fill_container(getattr(message, name), inner, item)
    return message


def fill_container(target: Any, kind: Kind, value: Any) -> None:
    assert kind.inner is not None
    for key, item in value.items() if kind.name == "map" else enumerate(value):
        if kind.inner.name == "record":
            fill(target[key] if kind.name == "map" else target.add(), kind.inner, item)
        elif kind.inner.name == "timestamp":
            (target[key] if kind.name == "map" else target.add()).FromDatetime(item)
        elif kind.name == "map":
            target[key] = item
        else:
            target.append(item)


#: How a record is written in each format.
RENDER: dict[str, Callable[[Kind], str]] = {
    AVRO: lambda kind: json.dumps(avro(kind)),
    JSON: lambda kind: json.dumps(json_schema(kind)),
    PROTOBUF: protobuf,
}


def check_round(seed: int) -> None:
    """A schema with some messages and expressions."""
    maker = Maker(seed)
    parsed = parse(SchemaText(maker.format, RENDER[maker.format](maker.root)), strict=True)
    checked = schema_types(parsed).rule()
    run = evaluated(checked)
    for _ in range(8):
        value = maker.value(maker.root)
        message = value
        if isinstance(parsed, ProtobufSchema):
            message = fill(parsed.message_class()(), maker.root, value)
        text, compute = maker.expression(maker.root, "message")
        assert check_expression(text, checked).result_type in ("bool", "wrapper(bool)"), text
        found = compile_expression(text, run).evaluate({"message": message})
        assert found is compute(value), (text, value, found)
        if maker.format != PROTOBUF:
            for name in value:
                same = compile_expression(f"[message.{name}] == [message.{name}] ? message.{name} : 0", run)
                back = same.evaluate({"message": message})
                assert (type(back), back) == (type(value[name]), value[name]), name
        text, name = maker.mistyped(maker.root, "message")
        detail = refusal(text, checked)
        assert name == "message" or name in detail, (text, name, detail)


def refusal(text: str, declarations: Mapping[str, CelType]) -> str:
    """The reason why an expression is refused."""
    try:
        check_expression(text, declarations)
    except ExpressionInvalid as error:
        return error.detail
    raise AssertionError(f"accepted: {text}")


def main() -> int:
    """Rounds until the time is up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    end, seed = time.monotonic() + options.seconds, options.seed
    while time.monotonic() < end:
        try:
            check_round(seed)
        except Exception:
            sys.stderr.write(f"failed with --seed {seed}\n")
            raise
        seed += 1
    sys.stdout.write(f"{seed - options.seed} rounds, seeds {options.seed} to {seed - 1}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
