"""No leaf, finding or difference is lost in a comparison: for all golden cases, and for schemas drawn at random."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat.avro import AvroSchema
from compat.schema import AVRO, JSON, PROTOBUF
from tests.compat.avro.evolutions import evolutions
from tests.compat.json_schema.drawing import DRAFTS, Drawing, parsed
from tests.compat.outline.checks import check_comparison, check_itself, check_outline, outline_of
from tests.compat.protobuf.generated import Schema, build, pairs
from tests.compat.witness_cases import cases


@pytest.mark.parametrize("schema_type", [AVRO, JSON, PROTOBUF])
def test_every_golden_case(schema_type: str):
    for case in cases(schema_type):
        try:
            check_comparison(case.writer, case.reader)
            check_itself(case.reader)
            check_outline(outline_of(case.reader))
        except AssertionError as error:
            raise AssertionError(case.name) from error


@given(evolutions())
@settings(max_examples=200, deadline=None)
def test_avro_schemas(pair: tuple[AvroSchema, AvroSchema]):
    new, old = pair
    check_comparison(old, new)
    check_itself(new)
    check_outline(outline_of(new))


@pytest.mark.parametrize("draft", DRAFTS)
@given(seed=st.integers(0, 2**64))
@settings(max_examples=60, deadline=None)
def test_json_schemas(draft: str, seed: int):
    old, new = (parsed(schema, draft) for schema in Drawing(draft, seed).pair())
    check_comparison(old, new)
    check_itself(new)
    check_outline(outline_of(new))


@given(pairs())
@settings(max_examples=100, deadline=None)
def test_protobuf_schemas(pair: tuple[Schema, Schema]):
    old, new = map(build, pair)
    check_comparison(old, new)
    check_itself(new)
    check_outline(outline_of(new))
