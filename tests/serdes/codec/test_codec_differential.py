"""Random schemas and data: fastavro is the judge."""

from __future__ import annotations

import copy
import importlib.util
import json
from pathlib import Path
from typing import Any

import fastavro
import pytest
from fastavro.read import SchemaResolutionError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from serdes.codec import DecodeError, SchemaError, codec, compile_codec
from serdes.codec.decode import walk as decode_walk
from serdes.codec.encode import walk as encode_walk
from serdes.codec.forms import form

_SPEC = importlib.util.spec_from_file_location("fuzz_codec", Path(__file__).parents[2] / "fuzz" / "fuzz_codec.py")
assert _SPEC
assert _SPEC.loader
fuzz = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(fuzz)

ROUNDS = settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


class Drawn:
    """Choices of Hypothesis, so that what fails shrinks."""

    def __init__(self, data: st.DataObject) -> None:
        self.data = data

    def integer(self, low: int, high: int) -> int:
        return self.data.draw(st.integers(low, high))

    def text(self) -> str:
        return self.data.draw(st.text(max_size=8))

    def binary(self, low: int, high: int) -> bytes:
        return self.data.draw(st.binary(min_size=low, max_size=high))

    def real(self) -> float:
        # One NaN: JSON does not keep apart the many.
        return self.data.draw(st.floats(width=32, allow_nan=False) | st.just(float("nan")))


@ROUNDS
@given(st.data())
def test_bytes_and_data_equal_fastavro(data: st.DataObject) -> None:
    fuzz.check_round(Drawn(data))


@ROUNDS
@given(st.data())
def test_damaged_bytes_give_a_datum_or_a_decode_error(data: st.DataObject) -> None:
    chooser = Drawn(data)
    maker = fuzz.Maker(chooser)
    schema = maker.schema()
    made = compile_codec(json.dumps(schema))
    fuzz.check_damage(chooser, made, made.encode(maker.datum(schema)))


@pytest.mark.parametrize("seed", range(0, 300, 10))
def test_seeded_rounds(seed: int) -> None:
    for number in range(seed, seed + 10):
        chooser = fuzz.Seeded(number)
        schema, content = fuzz.check_round(chooser)
        fuzz.check_damage(chooser, compile_codec(json.dumps(schema)), content)
        fuzz.check_misfit(chooser, schema, content)


PROMOTIONS = {
    "int": ("long", "float", "double"),
    "long": ("float", "double"),
    "float": ("double",),
    "string": ("bytes",),
    "bytes": ("string",),
}


class Evolver:
    """A reader's schema made of a writer's by changes that readers may make, and by some that they may not."""

    def __init__(self, chooser: Any) -> None:
        self.chooser = chooser

    def chance(self, one_in: int) -> bool:
        return self.chooser.integer(0, one_in - 1) == 0

    def evolve(self, schema: Any) -> Any:
        if isinstance(schema, list):
            return self.union(schema)
        changed = self.single(schema)
        if self.chance(10) and not isinstance(changed, list):
            return ["null", changed] if changed != "null" else [changed, "string"]
        return changed

    def single(self, schema: Any) -> Any:
        kind = schema if isinstance(schema, str) else schema["type"]
        if kind in PROMOTIONS and isinstance(schema, str) and self.chance(3):
            return PROMOTIONS[kind][self.chooser.integer(0, len(PROMOTIONS[kind]) - 1)]
        if isinstance(schema, str):
            return "boolean" if self.chance(30) and kind in PROMOTIONS else schema
        schema = dict(schema)
        if kind == "record":
            return self.record(schema)
        if kind == "enum" and self.chance(2):
            schema["symbols"] = ["C", "A", "D"]
            if self.chance(2):
                schema["default"] = "D"
        for part in ("items", "values"):
            if part in schema:
                schema[part] = self.evolve(schema[part])
        return schema

    def union(self, schema: list[Any]) -> Any:
        branches = [self.single(branch) for branch in schema]
        kept: dict[str, Any] = {}
        for branch in branches:
            kept.setdefault(branch if isinstance(branch, str) else branch.get("name", branch["type"]), branch)
        branches = list(kept.values())
        if self.chance(4):
            branches.reverse()
        return branches[0] if len(branches) == 1 and self.chance(2) else branches

    def record(self, schema: dict[str, Any]) -> dict[str, Any]:
        fields = []
        for field in schema["fields"]:
            # A dropped definition may be mentioned later on: only fields of plain types go.
            if self.chance(4) and isinstance(field["type"], str):
                continue
            changed = {**field, "type": self.evolve(field["type"])}
            if self.chance(4):
                changed |= {"name": f"new_{field['name']}", "aliases": [field["name"]]}
            fields.append(changed)
        if self.chance(3):
            fields.reverse()
        if self.chance(3):
            added, default = [
                ("int", 7),
                ("string", "é"),
                (["null", "long"], None),
                ({"type": "array", "items": "int"}, [1]),
            ][self.chooser.integer(0, 3)]
            fields.insert(0, {"name": "added", "type": added, "default": default})
        return {**schema, "fields": fields}


@ROUNDS
@given(st.data())
def test_resolution_equals_fastavro(data: st.DataObject) -> None:
    check_resolution(Drawn(data))


@pytest.mark.parametrize("seed", range(0, 600, 20))
def test_seeded_resolution(seed: int) -> None:
    for number in range(seed, seed + 20):
        check_resolution(fuzz.Seeded(number))


def check_resolution(chooser: Any) -> None:
    maker = fuzz.Maker(chooser)
    writer = maker.schema()
    reader = Evolver(chooser).evolve(copy.deepcopy(writer))
    try:
        fastavro.parse_schema(copy.deepcopy(reader))
    except (fastavro.schema.UnknownType, fastavro.schema.SchemaParseException):
        # What the evolver dropped was a definition that is mentioned elsewhere.
        return
    content = compile_codec(json.dumps(writer)).encode(maker.datum(writer))
    try:
        compile_codec(json.dumps(reader))
    except SchemaError as error:
        # fastavro takes what Avro does not: the evolver made two branches of a union one type.
        assert "Duplicate in union" in str(error)  # noqa: PT017
        return
    fuzz.check_damage(chooser, compile_codec(json.dumps(writer), json.dumps(reader)), content)
    resolving = codec.AvroCodec(codec.CodecInput(json.dumps(writer), json.dumps(reader), (), (), False, False))
    try:
        expected = fuzz.read(writer, content, reader)
    except (SchemaResolutionError, UnicodeDecodeError, ValueError, OverflowError):
        with pytest.raises(DecodeError):
            resolving.decode(content)
        return
    if "time-m" in json.dumps(writer) and not fuzz.decodes(resolving, content):
        return
    assert fuzz.same(resolving.decode(content), expected), (writer, reader)


@ROUNDS
@given(st.data())
def test_generated_code_agrees_with_the_step_by_step_codec(data: st.DataObject) -> None:
    chooser = Drawn(data)
    maker = fuzz.Maker(chooser)
    schema = maker.schema()
    datum = maker.datum(schema)
    made = compile_codec(json.dumps(schema))
    content = made.encode(datum)
    assert encode_walk.encode(made.schema, datum, form.DATA) == content
    try:
        walked = decode_walk.decode(made.plan, content, 0, form.DATA)
    except DecodeError:
        # A union of an int and a time of day takes any int for a time.
        with pytest.raises(DecodeError):
            made.decode(content)
        return
    assert fuzz.same(made.decode(content), walked)
    plain = compile_codec(json.dumps(schema), plain_unions=True)
    for compiled in (made, plain):
        value = compiled.avro_to_json(content)
        assert fuzz.same(value, decode_walk.decode(compiled.plan, content, 0, compiled._json))
    assert encode_walk.encode(made.schema, made.avro_to_json(content), made._json) == content


def test_the_step_by_step_codec_is_not_needed_for_usual_data(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> Any:
        raise AssertionError("the step-by-step codec was called")

    for seed in range(300):
        maker = fuzz.Maker(fuzz.Seeded(seed))
        schema = maker.schema()
        made = codec.AvroCodec(codec.CodecInput(json.dumps(schema), None, (), (), False, False))
        functions = (made.encode, made.decode, made.json_to_avro, made.avro_to_json)
        datum = maker.datum(schema)
        with monkeypatch.context() as patch:
            # Defaults are encoded step by step, when the functions are made.
            patch.setattr(encode_walk, "encode", refuse)
            patch.setattr(decode_walk, "decode", refuse)
            encode, decode, json_to_avro, avro_to_json = functions
            content = encode(datum)
            if "logicalType" not in json.dumps(schema):
                decode(content)
            assert json_to_avro(avro_to_json(content)) == content
