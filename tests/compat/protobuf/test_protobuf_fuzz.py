"""Fuzzing for a bounded number of inputs, and texts that are made to take long; `tests/fuzz` has the long form."""

from __future__ import annotations

import importlib.util
import random
import time
from collections import Counter
from pathlib import Path

import pytest

from compat.protobuf import FORMAT, ProtobufSchema
from compat.schema import PROTOBUF, InvalidSchema, SchemaText

INPUTS = 1500
FUZZ = Path(__file__).resolve().parents[2] / "fuzz" / "fuzz_protobuf.py"
P3 = 'syntax = "proto3";\n'


def test_no_input_raises_anything_but_invalid_schema():
    spec = importlib.util.spec_from_file_location("fuzz_protobuf", FUZZ)
    assert spec is not None
    assert spec.loader is not None
    fuzz = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fuzz)
    choose, texts = random.Random(7), fuzz.seeds()
    done: Counter[str] = Counter()
    for _ in range(INPUTS):
        text, other = fuzz.mutant(texts, choose), choose.choice(texts)
        begun = time.process_time()
        done += fuzz.exercise(text, other)
        assert time.process_time() - begun < fuzz.LIMIT, text
    assert min(done["refused"], done["done"]) > INPUTS / 2
    assert done["compared"] > INPUTS / 20


def large(count: int) -> dict[str, str]:
    numbers = range(1, count + 1)
    two = P3 + "message M {{ {} }}"
    return {
        "fields": two.format(" ".join(f"int32 f{i} = {i};" for i in numbers if not 19000 <= i < 20000)),
        "reserved": two.format(" ".join(f"reserved {2 * i};" for i in numbers) + "int32 a = 1; int32 b = 3;"),
        "oneof": two.format("oneof o {" + " ".join(f"int32 f{i} = {i};" for i in numbers if i // 1000 != 19) + "}"),
        "messages": P3 + " ".join(f"message M{i} {{ M{count} a = 1; }}" for i in numbers),
        "enum": P3 + "enum E { ZERO = 0; " + " ".join(f"V{i} = {i};" for i in numbers) + "}",
        "optional": two.format(" ".join(f"optional int32 f{i} = {i};" for i in numbers if i // 1000 != 19)),
        "options": 'import "confluent/meta.proto"; message M { '
        + " ".join(f'option (confluent.message_meta).tags = "{i}";' for i in numbers)
        + "}",
        "aggregate": 'import "confluent/meta.proto"; message M { option (confluent.message_meta) = {'
        + " ".join(f'tags: "{i}"' for i in numbers)
        + "}; }",
        "strings": "option java_package = " + " ".join('"a"' for _ in numbers) + ";",
        "blanks": P3 + "message M {}" + " " * 20 * count + "// x",
        "imports": "".join(f'import "{i}.proto";' for i in numbers),
        "packages": "package " + ".".join("a" for _ in range(450)) + ";" + "message M {}",
        "nested": P3 + "message M { " * 31 + "M m = 1;" + "}" * 31,
    }


@pytest.mark.parametrize("name", large(1))
def test_time_grows_with_the_size_only(name: str):
    text = large(5000)[name]
    begun = time.process_time()
    try:
        schema = FORMAT.parse(SchemaText(PROTOBUF, text), (), True)
    except InvalidSchema:
        schema = FORMAT.parse(SchemaText(PROTOBUF, text), (), False)
        assert name == "imports"
    assert isinstance(schema, ProtobufSchema)
    assert schema.canonical
    assert schema.normalized()
    empty = FORMAT.parse(SchemaText(PROTOBUF, P3 + "message M { oneof o { int32 a = 9999; } }"), (), True)
    for one, other in ((schema, schema), (schema, empty), (empty, schema)):
        for difference in FORMAT.differences(one, other):
            FORMAT.locate(one, difference.reader_at or ())
    assert time.process_time() - begun < 5


@pytest.mark.parametrize("text", [" " * 300_000 + "{", "A" * 300_000 + "{", "A=" * 100_000, "A" * 400_000])
def test_the_parser_quickly_distinguishes_text_that_looks_like_base64(text: str):
    begun = time.process_time()
    with pytest.raises(InvalidSchema):
        FORMAT.parse(SchemaText(PROTOBUF, text), (), False)
    assert time.process_time() - begun < 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"message {'M' * 256} {{}}", "a name is longer than 255 characters"),
        ("package " + "a." * 600 + "b;", "a name is longer than 1000 characters"),
        (P3 + f"message M {{ {'a . ' * 600} b c = 1; }}", "a name is longer than 1000 characters"),
    ],
)
def test_names_have_a_longest_length(text: str, message: str):
    with pytest.raises(InvalidSchema, match=message):
        FORMAT.parse(SchemaText(PROTOBUF, text), (), False)
