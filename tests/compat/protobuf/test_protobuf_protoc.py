"""Protobuf's own compiler as the judge: equal descriptors of what it accepts, and refusal of what it refuses."""

from __future__ import annotations

import importlib
import os
import random
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc_tools
import pytest
from google.protobuf import message_factory
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from grpc_tools import protoc

from compat.protobuf import FORMAT, ProtobufSchema
from compat.protobuf.checks.stored import check_new
from compat.protobuf.link.linker import Linked, link, load
from compat.protobuf.program.builtin import BUILTIN_PATHS
from compat.protobuf.program.library import Library
from compat.protobuf.program.unit import Unit
from compat.protobuf.text.lexer import tokenize
from compat.protobuf.text.parser import parse_file
from compat.protobuf.text.printer import print_file
from compat.schema import PROTOBUF, InvalidSchema, SchemaText

INCLUDED = Path(grpc_tools.__file__).parent / "_proto"
GENERATED_FILES = 200
MUTATED_FILES = 150


class Judge:
    """protoc in this process; its errors come on file descriptor 2."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def compile(self, files: dict[str, str]) -> tuple[dict[str, FileDescriptorProto] | None, str]:
        """The descriptors of all files, or None and the errors."""
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="")
        output, errors = self.folder / "out.bin", self.folder / "errors.txt"
        saved = os.dup(2)
        try:
            with errors.open("w") as stream:
                os.dup2(stream.fileno(), 2)
                arguments = ["protoc", f"-I{self.folder}", f"-I{INCLUDED}", "--retain_options"]
                failed = protoc.main([*arguments, f"--descriptor_set_out={output}", *files])
        finally:
            os.dup2(saved, 2)
            os.close(saved)
        if failed:
            return None, errors.read_text()
        found = FileDescriptorSet.FromString(output.read_bytes())
        return {file.name: file for file in found.file}, ""


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with tempfile.TemporaryDirectory() as folder:
        yield Judge(Path(folder))


def linked(files: dict[str, str], root: str) -> Linked:
    units = {name: Unit(name, parse_file(text), text) for name, text in files.items()}
    found = link(load(units[root], Library(units)), root)
    for unit in units.values():
        check_new(unit)
    return found


def verdict(files: dict[str, str], root: str) -> tuple[Linked | None, str]:
    """The linked file, or None and why protoc should refuse it, be it refused or remarked upon."""
    try:
        found = linked(files, root)
    except InvalidSchema as error:
        return None, str(error)
    return (None, found.remarks[0].message) if found.remarks else (found, "")


def comparable(file: FileDescriptorProto, pool: Any = None) -> Any:
    """A descriptor that can be compared.

    protoc tells `{}` behind a method from `;`, and writes custom options that are set part by part one after the other.
    """
    copy = FileDescriptorProto.FromString(file.SerializeToString())
    for service in copy.service:
        for method in service.method:
            if method.HasField("options") and not method.options.ByteSize():
                method.ClearField("options")
    if pool is None:
        return copy
    try:
        file_type = message_factory.GetMessageClass(pool.FindMessageTypeByName("google.protobuf.FileDescriptorProto"))
    except KeyError:
        return copy
    return file_type.FromString(copy.SerializeToString())


def check(judge: Judge, files: dict[str, str], root: str) -> bool:
    """Compare both verdicts on a file; True if both accept it."""
    theirs, errors = judge.compile(files)
    found, problem = verdict(files, root)
    text = files[root]
    assert bool(errors) == bool(problem), f"protoc: {errors or 'accepts'}\nwe: {problem or 'accept'}\n{text}"
    if theirs is not None and found is not None:
        pool = found.pool if "import " in text else None
        assert comparable(found.proto, pool) == comparable(theirs[root], pool), text
        assert parse_file(print_file(parse_file(text))) == parse_file(text)
    return theirs is not None


def shipped() -> dict[str, str]:
    """The `.proto` files that come with the compiler and with googleapis' common types."""
    common = Path(importlib.import_module("google.type.date_pb2").__file__ or "").parents[2]
    return {
        str(path.relative_to(base)): path.read_text()
        for base in (common, INCLUDED)
        for path in sorted(base.glob("google/**/*.proto"))
    }


def test_the_files_that_ship_with_protobuf_and_googleapis_give_equal_descriptors(judge: Judge):
    files = shipped()
    theirs, errors = judge.compile(files)
    assert theirs is not None, errors
    assert len(files) > 60
    for name, text in files.items():
        found = linked(files, name)
        assert comparable(found.proto, found.pool) == comparable(theirs[name], found.pool), name
        assert parse_file(print_file(parse_file(text))) == parse_file(text)


@pytest.mark.parametrize("path", sorted(path for path in BUILTIN_PATHS if path.startswith("google/")))
def test_built_in_imports_are_those_of_the_published_packages(path: str):
    text = f'syntax = "proto3"; import "{path}";'
    schema = FORMAT.parse(SchemaText(PROTOBUF, text), (), True)
    assert isinstance(schema, ProtobufSchema)
    theirs = importlib.import_module(path.removesuffix(".proto").replace("/", ".") + "_pb2").DESCRIPTOR
    built_in, published = FileDescriptorProto(), FileDescriptorProto()
    schema.linked.pool.FindFileByName(path).CopyToProto(built_in)
    theirs.CopyToProto(published)
    for message in (*built_in.message_type, *published.message_type):
        drop_json_names(message)
    assert built_in == published


def drop_json_names(message: Any) -> None:
    """Compiled code has no JSON names that follow from the names."""
    for field in message.field:
        field.ClearField("json_name")
    for nested in message.nested_type:
        drop_json_names(nested)


@pytest.mark.parametrize(
    ("path", "type_name", "fields"),
    [
        ("confluent/meta.proto", "confluent.Meta", ["doc", "params", "tags", "rules"]),
        ("confluent/type/decimal.proto", "confluent.type.Decimal", ["value", "precision", "scale"]),
        ("confluent/type/variant.proto", "confluent.type.Variant", ["metadata", "value"]),
    ],
)
def test_the_reference_s_own_imports_are_built_in(path: str, type_name: str, fields: list[str]):
    text = f'syntax = "proto3"; import "{path}"; message M {{ {type_name} a = 1; }}'
    schema = FORMAT.parse(SchemaText(PROTOBUF, text), (), True)
    assert isinstance(schema, ProtobufSchema)
    found = schema.linked.pool.FindMessageTypeByName(type_name)
    assert [field.name for field in found.fields] == fields


TABLES = Path(__file__).parents[1] / "cases" / "protobuf-protoc"
OPTIONS = (TABLES / "options.proto").read_text()


def table(name: str) -> list[str]:
    """The files of a table, which stand between lines of dashes."""
    return re.split(r"^-{8,}\n", (TABLES / name).read_text(), flags=re.MULTILINE)


@pytest.mark.parametrize(("name", "accepted"), [("accepted.txt", True), ("refused.txt", False)])
def test_tables_of_single_files(judge: Judge, name: str, *, accepted: bool):
    texts = table(name)
    assert len(texts) > 140
    for text in texts:
        files = {"t.proto": text} | ({"options.proto": OPTIONS} if "options.proto" in text else {})
        assert check(judge, files, "t.proto") is accepted, text


@pytest.mark.parametrize(
    ("text", "protoc_accepts", "problem"),
    [
        # the runtime's descriptors cannot hold these
        ("message M { reserved 536870912; }", True, "cannot reach beyond 536870911"),
        (r'option java_package = "\xff";', True, "does not fit its type"),
        # protoc reads a # inside of a message value as a comment, by accident
        ("option java_package = {\n# a\n};", False, "but found '#'"),
        # the reference writes map entries out in canonical text, so they must be readable
        (
            "message M { message AEntry { option map_entry = true; optional int32 key = 1; optional int32 value = 2; }"
            " repeated AEntry a = 1; }",
            False,
            "",
        ),
    ],
)
def test_our_verdict_differs_from_protoc_in_listed_cases(
    judge: Judge, text: str, problem: str, *, protoc_accepts: bool
):
    files = {"t.proto": 'syntax = "proto2";\n' + text}
    assert (judge.compile(files)[0] is not None) is protoc_accepts
    _, found = verdict(files, "t.proto")
    assert problem in found
    assert bool(found) is bool(problem)


class Generator:
    """Random files that protoc accepts, with most of what the language has."""

    SCALARS = (
        "int32",
        "int64",
        "uint32",
        "sint64",
        "fixed32",
        "sfixed64",
        "bool",
        "string",
        "bytes",
        "float",
        "double",
    )

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.syntax = self.random.choice(("proto2", "proto3", "2023"))
        self.names = 0
        self.types = ["Shared", "p.q.Shared", ".p.q.Shared.Inner", "Shared.Inner"]
        self.enums: list[str] = []

    def maybe(self, text: str, chance: float = 0.3) -> str:
        return text if self.random.random() < chance else ""

    def name(self, prefix: str = "f") -> str:
        self.names += 1
        style = self.random.choice(("{}{}", "{}_{}", "{}_x_{}", "{}{}_"))
        return style.format(prefix, self.names)

    def number(self, number: int) -> str:
        return self.random.choice((str(number), hex(number), f"0{number:o}"))

    def blank(self) -> str:
        return self.random.choice((" ", "\n", "  // note\n", " /* note */ ", "\t"))

    def file(self) -> str:
        keyword = "edition" if self.syntax == "2023" else "syntax"
        head = f'{keyword} = "{self.syntax}";\npackage p.q;'
        imports = 'import "google/protobuf/descriptor.proto"; import "shared.proto";'
        parts = [self.enum(3), *(self.message(0) for _ in range(self.random.randint(1, 4)))]
        parts.append(self.maybe(self.service(), 0.5))
        if self.syntax == "proto2":
            parts.append(
                self.maybe(
                    "message Open { extensions 10 to 20, 30; } "
                    f"extend Open {{ optional {self.random.choice(self.SCALARS)} ext_{self.names} = 15; }}"
                )
            )
        parts.append(self.maybe("option (mark) = { text: \"a\" 'b' numbers: [1, 2] numbers: -3 };"))
        self.random.shuffle(parts)
        options = self.maybe('option java_package = "x\\n\\x41";') + self.maybe("option optimize_for = CODE_SIZE;")
        return f"{head}\n{imports}{options}\n{self.blank().join(parts)}\n"

    def enum(self, size: int) -> str:
        name = self.name("E")
        self.enums.append(name)
        zero = f"ZERO_{name} = 0{self.maybe(' [deprecated = true]')};"
        rest = " ".join(f"V_{name}_{i} = {self.random.choice((1, -1)) * i};" for i in range(1, size))
        alias = f"option allow_alias = true; OTHER_{name} = 0;" if self.random.random() < 0.2 else ""
        reserved = self.maybe("reserved 100 to 110, -100;") + self.maybe("reserved 1000 to max;")
        return f"enum {name} {{ {zero} {rest} {alias} {reserved} }}"

    def message(self, depth: int) -> str:
        name = self.name("M")
        numbers = self.random.sample(range(1, 90), 12)
        parts = [self.field(self.number(number)) for number in numbers[:6]]
        if self.random.random() < 0.5:
            inside = " ".join(self.field(self.number(number), in_oneof=True) for number in numbers[6:9])
            parts.append(f"oneof {self.name('choice')} {{ {inside} }}")
        if self.syntax == "proto2" and self.random.random() < 0.4:
            parts.append(f"optional group G{self.name()} = {numbers[9]} {{ optional int32 a = 1; }}")
        if depth < 2 and self.random.random() < 0.5:
            parts.append(self.message(depth + 1))
        if self.random.random() < 0.4:
            parts.append(self.enum(2))
        quote = "" if self.syntax == "2023" else '"'
        parts.append(self.maybe(f"reserved 100 to 199, 300; reserved {quote}gone{quote}, {quote}away{quote};"))
        parts.append(self.maybe("option deprecated = true;"))
        parts.append(self.maybe("option (note).text = 'x'; option (note).inner = { numbers: 7 };"))
        parts.append(self.maybe("extensions 500 to 600, 1000 to max;", 0.3 if self.syntax != "proto3" else 0))
        parts.append(self.maybe(";"))
        self.random.shuffle(parts)
        if depth == 0:
            self.types.append(name)
        return f"message {name} {{{self.blank()}{self.blank().join(parts)} }}"

    def type_name(self) -> str:
        kind = self.random.random()
        if kind < 0.6:
            return self.random.choice(self.SCALARS)
        return self.random.choice(self.types if kind < 0.85 or not self.enums else self.enums[:1])

    def field(self, number: str, *, in_oneof: bool = False) -> str:
        kind, name = self.type_name(), self.name()
        if not in_oneof and self.random.random() < 0.15:
            key = self.random.choice(("int32", "string", "bool", "fixed64"))
            return f"map<{key}, {kind}> {name} = {number};"
        label = ""
        if not in_oneof:
            labels = {"proto2": ("optional", "repeated", "required"), "proto3": ("", "repeated", "optional")}
            label = self.random.choice(labels.get(self.syntax, ("", "repeated")))
        return f"{label} {kind} {name} = {number}{self.options(label, kind, name)};"

    def options(self, label: str, kind: str, name: str) -> str:
        found = [self.maybe("deprecated = true"), self.maybe(f'json_name = "j{name}"', 0.15)]
        found.append(self.maybe("(field_note) = 'é'", 0.15))
        if label == "repeated" and kind in {"int32", "bool", "double"} and self.syntax != "2023":
            found.append(self.maybe("packed = false"))
        if self.syntax == "proto2" and label == "optional":
            found.append(self.maybe(self.default(kind)))
        chosen = [option for option in found if option]
        return f" [{', '.join(chosen)}]" if chosen else ""

    def default(self, kind: str) -> str:
        values = {
            "int32": ("-2147483648", "0x7f", "017"),
            "uint32": ("4294967295",),
            "sint64": ("-9223372036854775808",),
            "bool": ("true", "false"),
            "string": ('"a\\"\\n" "b"', "'\\u00e9'"),
            "bytes": ('"\\377\\x00\\\\"', '"?\'"'),
            "float": ("1.5", "-0.1", "inf", "1e10", "3"),
            "double": ("nan", "-inf", "1e-7", ".5", "123456789.125"),
        }
        return f"default = {self.random.choice(values[kind])}" if kind in values else ""

    def service(self) -> str:
        kind = self.random.choice(("Shared", ".p.q.Shared"))
        return (
            f"service {self.name('S')} {{ rpc {self.name('A')} ({kind}) returns (stream {kind}); "
            f"rpc {self.name('B')} (stream Shared) returns (Shared) {{ option deprecated = true; }} }}"
        )


SHARED = """syntax = "proto2";
package p.q;
import public "google/protobuf/descriptor.proto";
message Shared { message Inner { optional string a = 1; } }
message Note {
  optional string text = 1; repeated int32 numbers = 2; optional Note inner = 3;
}
extend google.protobuf.MessageOptions { optional Note note = 50001; }
extend google.protobuf.FileOptions { optional Note mark = 50002; }
extend google.protobuf.FieldOptions { optional string field_note = 50003; }
"""


@pytest.mark.slow
def test_generated_files_give_equal_descriptors(judge: Judge):
    for seed in range(GENERATED_FILES):
        text = Generator(seed).file()
        assert check(judge, {"shared.proto": SHARED, "t.proto": text}, "t.proto"), text


def mutated(text: str, choose: random.Random) -> str:
    """A text with a token or two left out, doubled, swapped or replaced by another of its tokens."""
    tokens = [token for token in tokenize(text) if token]
    for _ in range(choose.randint(1, 2)):
        i, j = choose.randrange(len(tokens)), choose.randrange(len(tokens))
        match choose.randrange(4):
            case 0:
                del tokens[i]
            case 1:
                tokens.insert(i, tokens[i])
            case 2:
                tokens[i] = tokens[j]
            case _:
                tokens[i], tokens[j] = tokens[j], tokens[i]
    return " ".join(tokens)


def test_we_refuse_a_changed_file_if_protoc_refuses_it(judge: Judge):
    verdicts = set()
    for seed in range(MUTATED_FILES):
        text = mutated(Generator(seed).file(), random.Random(seed))
        files = {"shared.proto": SHARED, "t.proto": text}
        verdicts.add(check(judge, files, "t.proto"))
    assert verdicts == {True, False}
