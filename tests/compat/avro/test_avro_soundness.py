"""Avro verdicts against two readers: what we call compatible is read, and what we call incompatible fails.

Schemas and changes to them are generated; for each writer schema a set of data is made that takes every branch, symbol
and type at least once. fastavro and Apache's avro read the data with the reader schema.
"""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, assume, given, settings

from compat.avro import FORMAT, AvroSchema
from compat.formats import parse
from compat.schema import AVRO, SchemaText
from tests.compat.avro.evolutions import apache_can_judge, apache_reads, data, evolutions, fastavro_reads, zigzag

WITNESSED = 0.98


@pytest.mark.slow
def test_readers_read_data_of_compatible_schemas_and_only_those():
    counts: Counter[str] = Counter()

    @given(evolutions())
    @settings(max_examples=2000, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    def judge(pair: tuple[AvroSchema, AvroSchema]) -> None:
        reader, writer = pair
        datums = data(writer.root)
        assume(datums)
        judged_by_apache = apache_can_judge(reader.root, writer.root, set())
        if FORMAT.differences(reader, writer):
            counts["incompatible"] += 1
            counts["incompatible, with a witness"] += not fastavro_reads(reader, writer, datums)
            counts["incompatible, with a witness for both"] += not apache_reads(reader, writer, datums)
        else:
            assert fastavro_reads(reader, writer, datums)
            assert not judged_by_apache or apache_reads(reader, writer, datums)
            counts["compatible"] += 1
            counts["compatible, judged by both"] += judged_by_apache

    judge()
    assert counts["compatible"] >= 300
    assert counts["compatible, judged by both"] >= 0.7 * counts["compatible"]
    assert counts["incompatible"] >= 1000
    assert counts["incompatible, with a witness"] >= WITNESSED * counts["incompatible"]
    assert counts["incompatible, with a witness for both"] >= WITNESSED * counts["incompatible"]


def schema(text: str) -> AvroSchema:
    parsed = parse(SchemaText(AVRO, text), strict=True)
    assert isinstance(parsed, AvroSchema)
    return parsed


def record(name: str, *fields: tuple[str, str]) -> str:
    listed = ",".join(f'{{"name":"{field}","type":{kind}}}' for field, kind in fields)
    return f'{{"type":"record","name":"{name}","fields":[{listed}]}}'


WRITTEN_A = record("A", ("b", record("B", ("a", '["null","A"]'))))
READ_X_A = record("x.A", ("b", record("x.B", ("a", '["null","x.A"]'))), ("c", '"int"'))
READ_Y_A = record("y.A", ("b", '"x.B"'))

# Called compatible by the reference, and so by us; the datum shows that it is not.
UNSOUND = {
    "bytes that are not text, read as a string": ('"string"', '"bytes"', zigzag(1) + b"\xff"),
    # While x.A is tried, B is found compatible because x.A is still being compared. That x.A then fails does not undo
    # the verdict on B, so y.A is found to fit: but what is inside B fits no branch.
    "a verdict that rested on a comparison in progress": (
        f"[{READ_X_A},{READ_Y_A}]",
        WRITTEN_A,
        zigzag(1) + zigzag(0),
    ),
}


@pytest.mark.parametrize("case", UNSOUND)
def test_our_verdict_equals_the_reference_even_if_the_reference_is_unsound(case: str):
    reader, writer, datum = UNSOUND[case]
    assert FORMAT.differences(schema(reader), schema(writer)) == []
    assert not fastavro_reads(schema(reader), schema(writer), [datum])


# Called incompatible by the reference, and so by us, though every datum is read.
OVERSTRICT = {
    "an enum without symbols has no data": (
        '["null",{"type":"enum","name":"E","symbols":["A"]}]',
        '["null",{"type":"enum","name":"F","symbols":[]}]',
    ),
    "a type that contains itself without end has no data": (
        record("R", ("a", '"string"'), ("r", '"R"')),
        record("R", ("a", '"int"'), ("r", '"R"')),
    ),
}


@pytest.mark.parametrize("case", OVERSTRICT)
def test_verdicts_of_the_reference_stay_even_if_they_are_too_strict(case: str):
    reader, writer = map(schema, OVERSTRICT[case])
    assert FORMAT.differences(reader, writer) != []
    assert fastavro_reads(reader, writer, data(writer.root))
