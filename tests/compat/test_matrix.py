"""The matrix: a new schema against every earlier version in both directions."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat.budget import Budget, TooMuchWork
from compat.engine import Previous, check
from compat.formats import parse
from compat.level import LEVELS, Policy
from compat.matrix import Matrix, compare_with_every
from compat.schema import AVRO, JSON, InvalidSchema, ParsedSchema, SchemaText


def avro(*fields: tuple[str, str] | tuple[str, str, object]) -> ParsedSchema:
    listed = [dict(zip(("name", "type", "default"), field, strict=False)) for field in fields]
    return parse(SchemaText(AVRO, json.dumps({"type": "record", "name": "R", "fields": listed})), strict=True)


A, B = ("a", "int"), ("b", "string")
A_LONG, B_DEFAULT = ("a", "long"), ("b", "string", "")


def matrix(new: ParsedSchema, *schemas: ParsedSchema, budget: Budget | None = None) -> Matrix:
    return compare_with_every(new, previous(schemas), Policy.STRICT, budget or Budget())


def previous(schemas: Sequence[ParsedSchema]) -> list[Previous]:
    return [Previous(number, schema, steps=1) for number, schema in enumerate(schemas, 1)]


# new, earlier versions oldest first, (version, backward, forward) newest first
ROWS = [
    (avro(A), [], []),
    (avro(A), [avro(A)], [(1, True, True)]),
    (avro(A_LONG), [avro(A), avro(A_LONG)], [(2, True, True), (1, True, False)]),
    (avro(A, B), [avro(A), avro(A, B_DEFAULT)], [(2, True, True), (1, False, True)]),
    (avro(A_LONG, B), [avro(A), avro(B)], [(2, False, True), (1, False, False)]),
    (avro(A), [parse(SchemaText(JSON, "{}"), strict=True)], [(1, False, False)]),
]


@pytest.mark.parametrize(("new", "schemas", "rows"), ROWS, ids=range(len(ROWS)))
def test_each_version_has_a_verdict_in_both_directions(
    new: ParsedSchema, schemas: list[ParsedSchema], rows: list[tuple[int, bool, bool]]
):
    told = matrix(new, *schemas)
    assert [(row.previous.version, row.backward, row.forward) for row in told.rows] == rows
    assert not told.is_cut


def test_an_unreadable_stored_text_is_compatible_in_no_direction():
    def broken() -> ParsedSchema:
        raise InvalidSchema(AVRO, "no schema")

    told = compare_with_every(avro(A), [Previous(1, broken), Previous(2, avro(A))], Policy.STRICT, Budget())
    assert [(row.backward, row.forward) for row in told.rows] == [(True, True), (False, False)]
    assert [finding.message for finding in told.rows[1].findings] == [
        "Unexpected exception during compatibility check: no schema"
    ] * 2


def test_explanations_name_version_and_direction():
    explanations, is_cut = matrix(avro(A_LONG, B), avro(A), avro(A, B_DEFAULT)).explained(Budget())
    assert not is_cut
    assert [
        (told.severity, told.version, told.direction, told.rule, told.example is not None, bool(told.fixes))
        for told in explanations
    ] == [
        ("error", 2, "FORWARD", "TYPE_MISMATCH", True, True),
        ("error", 1, "FORWARD", "TYPE_MISMATCH", True, True),
        ("error", 1, "BACKWARD", "READER_FIELD_MISSING_DEFAULT_VALUE", True, True),
    ]


def test_the_matrix_explains_breaks_with_the_newest_version_first():
    names = "cdefghij"
    new = avro(A, *[(name, "int") for name in names])
    told = matrix(new, *[avro(A, *[(name, "int") for name in names[:count]]) for count in range(8)])
    enough_for_some = Budget(1_500)
    explanations, _ = told.explained(enough_for_some)
    with_example = [(item.version, item.path) for item in explanations if item.example is not None]
    assert 0 < len(with_example) < len(explanations)
    # The newest version lacks one field, the next one two: each field is explained before any is a second time.
    assert {path for _, path in with_example} == {f"/fields/{index}" for index in range(1, 9)}


def test_a_spent_budget_leaves_older_versions_out():
    schemas = [avro(A) for _ in range(100)]
    told = matrix(avro(A_LONG), *schemas, budget=Budget(1_000))
    assert told.is_cut
    numbers = [row.previous.version for row in told.rows]
    assert 0 < len(numbers) < 100
    assert numbers == list(range(100, 100 - len(numbers), -1))
    assert not told.verdict(LEVELS["FORWARD_TRANSITIVE"]).compatible
    assert told.verdict(LEVELS["BACKWARD"]).compatible
    assert told.verdict(LEVELS["NONE"]).compatible
    with pytest.raises(TooMuchWork):
        told.verdict(LEVELS["BACKWARD_TRANSITIVE"])
    nothing = matrix(avro(A_LONG), *schemas, budget=Budget(0))
    assert (nothing.rows, nothing.is_cut) == ((), True)
    with pytest.raises(TooMuchWork):
        nothing.verdict(LEVELS["BACKWARD"])


FIELDS = st.sampled_from([A, A_LONG, B, B_DEFAULT, ("c", "int"), ("c", "int", 0)])
SCHEMAS = st.lists(FIELDS, max_size=3, unique_by=lambda field: field[0]).map(lambda fields: avro(*fields))


@settings(max_examples=100, deadline=None, database=None)
@given(SCHEMAS, st.lists(SCHEMAS, max_size=4), st.sampled_from(sorted(LEVELS)), st.booleans())
def test_the_matrix_and_the_check_agree_at_each_level(
    new: ParsedSchema, schemas: list[ParsedSchema], level: str, validate_fields: bool
):
    options = {"validate_fields": validate_fields, "reserved_messages": ["reserved"] if validate_fields else []}
    expected = check(new, previous(schemas), LEVELS[level], **options)  # type: ignore[arg-type]
    told = matrix(new, *schemas).verdict(LEVELS[level], **options)  # type: ignore[arg-type]
    assert told.messages == expected.messages
    assert [finding.message for finding in told.findings] == [finding.message for finding in expected.findings]
