"""One model of Avro schemas: what the registry's parser accepts has a codec, and nothing else has one."""

from __future__ import annotations

import importlib.util
import itertools
import json
import random
from pathlib import Path
from typing import Any

import pytest

from compat.formats import parse
from compat.schema import AVRO, InvalidSchema, SchemaText
from serdes.codec import SchemaError, compile_codec

_SPEC = importlib.util.spec_from_file_location("fuzz_avro", Path(__file__).parents[2] / "fuzz" / "fuzz_avro.py")
assert _SPEC
assert _SPEC.loader
fuzz = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(fuzz)


def refusal_of_compat(text: str) -> str | None:
    try:
        parse(SchemaText(AVRO, text))
    except InvalidSchema as error:
        return error.detail
    return None


def refusal_of_codec(text: str) -> str | None:
    try:
        compile_codec(text)
    except SchemaError as error:
        return error.detail
    return None


@pytest.mark.parametrize("seed", range(10))
def test_codec_and_compat_accept_the_same_schemas_with_the_same_errors(seed: int) -> None:
    accepted = 0
    for text in itertools.islice(fuzz.texts(random.Random(seed)), 150):
        expected, refusal = refusal_of_compat(text), refusal_of_codec(text)
        if refusal == "the schema is nested too deeply":
            # Only shared types can nest so: a text alone is bounded by compat.
            assert text.count("{") > 190
            continue
        assert refusal == expected, text
        accepted += expected is None
        if expected is None:
            canonical = parse(SchemaText(AVRO, text)).canonical
            if refusal_of_compat(canonical) is None:
                compile_codec(canonical)
    assert accepted > 10


RECORD = {"type": "record", "name": "R", "namespace": "a", "fields": [{"name": "x", "type": "int"}]}


@pytest.mark.parametrize(
    ("text", "datum", "content"),
    [
        # A mention of a name without namespace, as compat prints it inside a namespace that has the same name.
        (
            '{"type":"record","name":"F","fields":[{"name":"a","type":{"type":"record","name":"a.F","fields":['
            '{"name":"b","type":["null",".F"]}]}}]}',
            {"a": {"b": None}},
            b"\x00",
        ),
        ("// a comment\n" + '{"type": "int" /* and another */}', 1, b"\x02"),
        # The same definition again.
        (
            json.dumps({"type": "record", "name": "T", "fields": [{"name": n, "type": RECORD} for n in "xy"]}),
            {"x": {"x": 1}, "y": {"x": 2}},
            b"\x02\x04",
        ),
        # Java reads the text of a number as the default of a double.
        (
            '{"type":"record","name":"D","fields":[{"name":"d","type":"double","default":"1.5"}]}',
            {},
            b"\x00\x00\x00\x00\x00\x00\xf8\x3f",
        ),
    ],
)
def test_texts_that_the_registry_holds_have_codecs(text: str, datum: Any, content: bytes) -> None:
    assert refusal_of_compat(text) is None
    assert compile_codec(text).encode(datum) == content


@pytest.mark.parametrize(
    "text", ['["int", "int"]', '["int", ["null"]]', '{"type": "record", "name": "int", "fields": []}']
)
def test_texts_that_the_registry_refuses_have_none(text: str) -> None:
    with pytest.raises(SchemaError):
        compile_codec(text)
    assert refusal_of_compat(text) is not None


def test_a_decimal_that_its_fixed_cannot_hold_is_none() -> None:
    fixed = {"type": "fixed", "name": "F", "size": 2, "logicalType": "decimal", "precision": 5}
    assert compile_codec(json.dumps(fixed)).decode(b"\x01\x00") == b"\x01\x00"
    large = {"type": "bytes", "logicalType": "decimal", "precision": 2**31}
    assert compile_codec(json.dumps(large)).decode(b"\x02\x01") == b"\x01"
