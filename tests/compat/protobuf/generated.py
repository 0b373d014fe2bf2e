"""Generated pairs of Protobuf schemas, and their messages as the runtime writes and reads them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from compat.protobuf import FORMAT, ProtobufSchema
from compat.protobuf.rules.pairs import GROUPS
from compat.schema import PROTOBUF, Dependency, SchemaText

EXAMPLES = 250
SCALARS = tuple(name for group in GROUPS for name in group if name != "enum")
ENUMS = ("E", "F")
MESSAGES = ("N", "O")
NUMBERS = range(1, 6)


@dataclass(frozen=True)
class Spec:
    """A field: `key` is the type of a map's keys, `oneof` the oneof it is in."""

    type: str
    label: str
    key: str = ""
    oneof: str = ""
    name: str = "f"


@dataclass(frozen=True)
class Schema:
    """Fields by number for each message; N and O stand in a file of their own if `imported`."""

    syntax: str
    imported: bool
    messages: dict[str, dict[int, Spec]]


def labels(syntax: str) -> tuple[str, ...]:
    return ("optional", "repeated") if syntax == "proto2" else ("", "optional", "repeated")


@st.composite
def specs(draw: st.DrawFn, syntax: str, types: tuple[str, ...]) -> Spec:
    form = draw(st.sampled_from(("plain", "plain", "plain", "oneof", "map")))
    kind = draw(st.sampled_from(types))
    name = draw(st.sampled_from(("f", "g")))
    if form == "map":
        return Spec(kind, "", key=draw(st.sampled_from(("int32", "bool", "string", "sint64"))), name=name)
    if form == "oneof":
        return Spec(kind, "", oneof=draw(st.sampled_from(("p", "q"))), name=name)
    return Spec(kind, draw(st.sampled_from(labels(syntax))), name=name)


@st.composite
def changed(draw: st.DrawFn, spec: Spec, syntax: str) -> Spec:
    """A field like another: mostly what one would change in a field and hope for the best."""
    if spec.key:
        alike = next((group for group in GROUPS if spec.type in group), (spec.type,))
        return replace(spec, type=draw(st.sampled_from([name for name in alike if name != "enum"])))
    form = draw(st.sampled_from(("type", "oneof", "label", "name")))
    if form == "type":
        alike = next((group for group in GROUPS if spec.type in group), (spec.type,))
        return replace(spec, type=draw(st.sampled_from([*(name for name in alike if name != "enum"), *ENUMS[:1]])))
    if form == "oneof":
        outside = draw(st.sampled_from(labels(syntax)))
        oneof = draw(st.sampled_from(("", "p", "q")))
        return replace(spec, oneof=oneof, label="" if oneof else outside)
    if form == "label" and not spec.oneof:
        return replace(spec, label=draw(st.sampled_from(labels(syntax))))
    return replace(spec, name=draw(st.sampled_from(("f", "g", "h"))))


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Schema, Schema]:
    syntax = draw(st.sampled_from(("proto2", "proto3")))
    inner = (*SCALARS, *ENUMS)
    old: dict[str, dict[int, Spec]] = {}
    new: dict[str, dict[int, Spec]] = {}
    for message in ("M", *MESSAGES):
        types = (*inner, *MESSAGES) if message == "M" else inner
        count = 5 if message == "M" else 2
        old[message] = draw(st.dictionaries(st.sampled_from(NUMBERS), specs(syntax, types), max_size=count))
        new[message] = dict(old[message])
        for number in draw(st.lists(st.sampled_from(NUMBERS), min_size=message == "M", max_size=3)):
            known = new[message].pop(number, None)
            kept = known is not None and draw(st.sampled_from(("changed", "changed", "other", "gone")))
            if known is not None and kept == "changed":
                new[message][number] = draw(changed(known, syntax))
            elif kept != "gone":
                new[message][number] = draw(specs(syntax, types))
    imported = draw(st.booleans())
    return Schema(syntax, imported, old), Schema(syntax, imported, new)


def text_of(schema: Schema, name: str) -> str:
    lines: list[str] = []
    oneofs: dict[str, list[str]] = {}
    for number, spec in schema.messages[name].items():
        kind = f"map<{spec.key}, {spec.type}>" if spec.key else spec.type
        line = f"{spec.label} {kind} {spec.name}{number} = {number};"
        (oneofs.setdefault(spec.oneof, []) if spec.oneof else lines).append(line)
    lines += [f"oneof {oneof} {{ {' '.join(members)} }}" for oneof, members in oneofs.items()]
    return f"message {name} {{ {' '.join(lines)} }}\n"


def build(schema: Schema) -> ProtobufSchema:
    head = f'syntax = "{schema.syntax}";\n'
    shared = "".join(f"enum {name} {{ {name}0 = 0; {name}1 = 1; }}\n" for name in ENUMS)
    shared += "".join(text_of(schema, name) for name in MESSAGES)
    dependencies: tuple[Dependency, ...] = ()
    if schema.imported:
        text, dependencies = head + 'import "n.proto";\n', (Dependency("n.proto", head + shared),)
    else:
        text = head + shared
    found = FORMAT.parse(SchemaText(PROTOBUF, text + text_of(schema, "M")), dependencies, True)
    assert isinstance(found, ProtobufSchema)
    return found


def is_compatible(reader: ProtobufSchema, writer: ProtobufSchema) -> bool:
    return all(difference.rule.allowed for difference in FORMAT.differences(reader, writer))


NARROW = ("bool", *ENUMS)
LIMITS = dict.fromkeys(
    ("int32", "int64", "uint32", "uint64", "fixed32", "sfixed32", "fixed64", "sfixed64"), (0, 2**31 - 1)
) | {"sint32": (-(2**31), 2**31 - 1), "sint64": (-(2**31), 2**31 - 1)}


def scalars(old: str, new: str) -> st.SearchStrategy[Any]:
    """Values of one type that the other, of the same encoding, has too."""
    if old in NARROW or new in NARROW:
        return st.sampled_from((0, 1))
    if old in LIMITS:
        return st.integers(*LIMITS[old])
    if old in {"float", "double"}:
        return st.floats(width=32, allow_nan=False)
    text = st.text("ab é", max_size=4)
    return text.map(str.encode) if old == "bytes" else text


def is_carried_over(old: Spec, new: Spec) -> bool:
    """False for what the reference allows and the wire does not carry over: see the last test."""
    if "repeated" not in {old.label, new.label} or old.label == new.label:
        return True
    return old.type in {"string", "bytes"}


@st.composite
def contents(draw: st.DrawFn, old: Schema, new: Schema, name: str) -> dict[str, Any]:
    """Values for the fields of a message of the writer, as keyword arguments of its class."""
    found: dict[str, Any] = {}
    taken = set()
    for number, spec in old.messages[name].items():
        other = new.messages[name].get(number, spec)
        if (spec.oneof and spec.oneof in taken) or not is_carried_over(spec, other) or not draw(st.booleans()):
            continue
        taken.add(spec.oneof)
        is_message = spec.type in MESSAGES
        value: Any = contents(old, new, spec.type) if is_message else scalars(spec.type, other.type)
        if spec.key:
            value = st.dictionaries(scalars(spec.key, other.key or spec.key), value, max_size=3)
        elif spec.label == "repeated":
            value = st.lists(value, max_size=3)
        found[f"{spec.name}{number}"] = draw(value)
    return found


def filled(message: Any, content: dict[str, Any]) -> Any:
    """The message with its fields set; protobuf 5 takes no dicts for the messages of a map."""
    for name, value in content.items():
        entry = message.DESCRIPTOR.fields_by_name[name].message_type
        if entry is not None and entry.GetOptions().map_entry and entry.fields_by_name["value"].message_type:
            for key, inner in value.items():
                filled(getattr(message, name)[key], inner)
        else:
            message.MergeFrom(type(message)(**{name: value}))
    return message


def plain(value: Any) -> Any:
    """A value as it compares across types that are encoded alike."""
    if isinstance(value, bytes):
        return value.decode()
    return int(value) if isinstance(value, bool) else value


def values(message: Any) -> dict[int, list[Any]]:
    """The fields that are set in a message, by number: lists, in which maps are sorted pairs."""
    found: dict[int, list[Any]] = {}
    for field, value in message.ListFields():
        inner = field.message_type
        if inner is not None and inner.GetOptions().map_entry:
            is_message = inner.fields_by_name["value"].message_type is not None
            found[field.number] = sorted(
                (plain(key), values(each) if is_message else plain(each)) for key, each in value.items()
            )
        elif isinstance(value, str | bytes | int | float):
            found[field.number] = [plain(value)]
        elif inner is not None:
            found[field.number] = [values(item) for item in ([value] if hasattr(value, "ListFields") else value)]
        else:
            found[field.number] = [plain(item) for item in value]
    return found
