"""A comparison finds each difference between two states, names it by its kind, and lists the worst first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from magicbyte.operations.comparison.compare import compare
from magicbyte.operations.comparison.difference import IGNORABLE, KINDS
from magicbyte.operations.state import State

Line = dict[str, Any]


def _schema(subject: str, version: int, schema_id: int, schema: str = '"int"', **more: Any) -> Line:
    return {
        "kind": "schema",
        "subject": subject,
        "version": version,
        "id": schema_id,
        "schema": schema,
        "ts": 5,
        **more,
    }


_CONTEXT = {"kind": "context", "context": ".", "listed": True, "maxId": 9}
_PROTO = 'syntax = "proto3"; message A { int32 a = 1; int32 b = 2; }'
_PROTO_SPACED = 'syntax = "proto3";\n\nmessage A {\n  int32 b = 2;\n  int32 a = 1;\n}\n'
_ENUM = '{"type":"enum","name":"b","symbols":["x"]}'
_REFERENCE = {"references": [{"name": "b", "subject": "b", "version": 1}]}


@pytest.mark.parametrize(
    ("left", "right", "found"),
    [
        ([], [], []),
        ([_schema("a", 1, 1)], [_schema("a", 1, 1)], []),
        (
            [_schema("a", 1, 1)],
            [_schema("a", 1, 1, '"long"')],
            [("ID_TWO_CONTENTS", ".", None, None, 1), ("CONTENT", ".", "a", 1, None)],
        ),
        (
            [_schema("a", 1, 1), _schema("b", 1, 2, '"long"')],
            [_schema("a", 1, 2), _schema("b", 1, 1, '"long"')],
            [
                ("ID_TWO_CONTENTS", ".", None, None, 1),
                ("ID_TWO_CONTENTS", ".", None, None, 2),
                ("ID", ".", "a", 1, None),
                ("ID", ".", "b", 1, None),
            ],
        ),
        ([_schema("a", 1, 1)], [_schema("a", 1, 2)], [("ID", ".", "a", 1, None)]),
        # An id means something for itself in each context.
        (
            [_schema("a", 1, 1), _schema(":.eu:a", 1, 1, '"long"')],
            [_schema("a", 1, 1), _schema(":.eu:a", 1, 1, '"string"')],
            [
                ("ID_TWO_CONTENTS", ".eu", None, None, 1),
                ("CONTENT", ".eu", ":.eu:a", 1, None),
            ],
        ),
        # An id that already means two things, and the same two on both sides, is no difference between them.
        (
            [_schema("a", 1, 1), _schema("b", 1, 1, '"long"'), _schema("c", 1, 1)],
            [_schema("a", 1, 1), _schema("b", 1, 1, '"long"')],
            [("SUBJECT", ".", "c", None, None)],
        ),
        # On the other side, one of its two meanings is missing.
        (
            [_schema("a", 1, 1), _schema("b", 1, 1, '"long"')],
            [_schema("a", 1, 1)],
            [("ID_TWO_CONTENTS", ".", None, None, 1), ("SUBJECT", ".", "b", None, None)],
        ),
        ([_schema("a", 1, 1)], [_schema("a", 1, 1, ' "int" ')], [("TEXT", ".", "a", 1, None)]),
        ([_schema("a", 1, 1)], [_schema("b", 1, 1, ' "int" ')], [
            ("SUBJECT", ".", "a", None, None),
            ("SUBJECT", ".", "b", None, None),
            ("TEXT", ".", None, None, 1),
        ]),
        (
            [_schema("a", 1, 1, '{"type": "object", "title": "t"}', schemaType="JSON")],
            [_schema("a", 1, 1, '{"title":"t","type":"object"}', schemaType="JSON")],
            [("TEXT", ".", "a", 1, None)],
        ),
        (
            [_schema("a", 1, 1, _PROTO, schemaType="PROTOBUF")],
            [_schema("a", 1, 1, _PROTO_SPACED, schemaType="PROTOBUF")],
            [("TEXT", ".", "a", 1, None)],
        ),
        # The texts mean the same only with their references, which are those of their own side.
        (
            [_schema("b", 1, 2, _ENUM), _schema("a", 1, 1, '"b"', **_REFERENCE)],
            [_schema("b", 1, 2, _ENUM), _schema("a", 1, 1, ' "b"', **_REFERENCE)],
            [("TEXT", ".", "a", 1, None)],
        ),
        # What does not parse means the same only if it is equal.
        (
            [_schema("a", 1, 1, "{")],
            [_schema("a", 1, 1, "{ ")],
            [("ID_TWO_CONTENTS", ".", None, None, 1), ("CONTENT", ".", "a", 1, None)],
        ),
        (
            [_schema("a", 1, 1, "{}", schemaType="JSON", metadata={"properties": {"owner": "x"}})],
            [_schema("a", 1, 1, "{}", schemaType="JSON", metadata={"properties": {"owner": "y"}})],
            [("ID_TWO_CONTENTS", ".", None, None, 1), ("CONTENT", ".", "a", 1, None)],
        ),
        (
            [_schema("a", 1, 1), _schema("a", 2, 2, '"long"')],
            [_schema("a", 2, 2, '"long"')],
            [("VERSION", ".", "a", 1, None)],
        ),
        ([_schema("a", 1, 1, deleted=True)], [_schema("a", 1, 1)], [("DELETED", ".", "a", 1, None)]),
        ([_schema("a", 1, 1, ts=1)], [_schema("a", 1, 1, ts=2)], [("TIMESTAMP", ".", "a", 1, None)]),
        ([_schema("a", 1, 1, ts=0)], [_schema("a", 1, 1, ts=2)], []),
        ([_CONTEXT], [{**_CONTEXT, "maxId": 8}], [("HIGHEST_ID", ".", None, None, None)]),
        ([{**_CONTEXT, "context": ".x", "maxId": 0}], [], [("CONTEXT", ".x", None, None, None)]),
        ([{**_CONTEXT, "context": ".x", "listed": False, "maxId": 0}], [], []),
        ([{"kind": "mode", "mode": "IMPORT"}], [], [("MODE", None, None, None, None)]),
        (
            [{"kind": "config", "subject": "a", "config": {"compatibilityLevel": "FULL"}}],
            [{"kind": "config", "subject": "a", "config": {"compatibilityLevel": "NONE"}}],
            [("CONFIG", ".", "a", None, None)],
        ),
    ],
)  # fmt: skip
def test_each_difference_has_a_code_and_a_place(
    left: list[Line], right: list[Line], found: list[tuple[str, str | None, str | None, int | None, int | None]]
) -> None:
    for lines, others, sides in ((left, right, ("left", "right")), (right, left, ("right", "left"))):
        comparison = compare(State.of_lines(lines), State.of_lines(others))
        assert [
            (one.code, one.place.context, one.place.subject, one.place.version, one.place.schema_id)
            for one in comparison.differences
        ] == found, sides
        assert comparison.is_equal is not bool(found)


@pytest.mark.parametrize(
    ("left", "right", "sentence", "sides"),
    [
        ([_schema("a", 1, 1)], [_schema("a", 1, 2)], "a version 1 has id 1 left and 2 right", (1, 2)),
        (
            [_schema("a", 1, 1, deleted=True)],
            [_schema("a", 1, 1)],
            "a version 1 is soft-deleted on the left only",
            (True, False),
        ),
        (
            [_schema("a", 1, 1)],
            [],
            "a is on the left only, with 1 version: 1",
            ([{"version": 1, "id": 1, "deleted": False}], None),
        ),
        (
            [],
            [{"kind": "config", "config": {"compatibilityLevel": "NONE"}}],
            "the global config is not set left and compatibilityLevel=NONE right",
            (None, {"compatibilityLevel": "NONE"}),
        ),
        (
            [_schema("a", 1, 1, ts=1)],
            [_schema("a", 1, 1, ts=2)],
            "a version 1 was written at 1 ms left, 2 ms right",
            (1, 2),
        ),
    ],
)
def test_a_difference_has_both_sides_and_a_sentence(
    left: list[Line], right: list[Line], sentence: str, sides: tuple[Any, Any]
) -> None:
    (difference,) = compare(State.of_lines(left), State.of_lines(right)).differences
    assert difference.sentence == sentence
    assert (difference.left, difference.right) == sides


_LEFT = [
    _CONTEXT,
    _schema("id", 1, 1),
    _schema("content", 1, 2),
    _schema("one", 1, 3, '"string"'),
    _schema("v", 1, 3, '"string"'),
    _schema("v", 2, 3, '"string"'),
    _schema("deleted", 1, 3, '"string"', deleted=True),
    _schema("gone", 1, 3, '"string"', deleted=True),
    _schema("text", 1, 4, '"bytes"'),
    _schema("ts", 1, 3, '"string"'),
    {"kind": "context", "context": ".x", "listed": True, "maxId": 0},
    {"kind": "mode", "mode": "IMPORT"},
    {"kind": "config", "config": {"compatibilityLevel": "NONE"}},
]
_RIGHT = [
    {**_CONTEXT, "maxId": 10},
    _schema("id", 1, 5),
    _schema("content", 1, 2, '"long"'),
    _schema("v", 1, 3, '"string"'),
    _schema("deleted", 1, 3, '"string"'),
    _schema("text", 1, 4, ' "bytes"'),
    _schema("ts", 1, 3, '"string"', ts=9),
]
_ALL = ["ID_TWO_CONTENTS", "CONTENT", "ID", "SUBJECT", "SUBJECT", "VERSION", "DELETED", "HIGHEST_ID", "MODE", "CONFIG"]
_ALL += ["CONTEXT", "TEXT", "TIMESTAMP"]


def test_the_worst_comes_first_and_each_kind_can_be_ignored() -> None:
    left, right = State.of_lines(_LEFT), State.of_lines(_RIGHT)
    comparison = compare(left, right)
    assert [one.code for one in comparison.differences] == _ALL
    assert list(comparison.counts) == list(KINDS)
    assert comparison.counts["SUBJECT"] == 2
    assert (comparison.left_versions, comparison.right_versions, comparison.same_versions) == (9, 6, 2)
    for name in IGNORABLE:
        rest = [one.code for one in compare(left, right, ignored=frozenset({name})).differences]
        expected = [code for code in _ALL if KINDS[code].ignored_by != name]
        if name == "deleted":
            expected.remove("SUBJECT")  # `gone`, which is soft-deleted and on the left only
        assert rest == expected, name
    assert compare(left, right, ignored=IGNORABLE).is_equal


def test_an_unknown_name_to_ignore_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing is called time"):
        compare(State(), State(), ignored=frozenset({"time", "ts"}))


_LINES = st.lists(
    st.builds(
        _schema,
        st.sampled_from(["a", "b", ":.eu:a"]),
        st.integers(1, 3),
        st.integers(1, 4),
        st.sampled_from(['"int"', '"long"', ' "int"', "{"]),
        deleted=st.booleans(),
    ),
    max_size=6,
)


@given(_LINES, _LINES)
def test_a_comparison_is_equal_exactly_if_the_states_are_and_mirrors_itself(
    left: list[Line], right: list[Line]
) -> None:
    states = State.of_lines(left), State.of_lines(right)
    comparison, mirrored = compare(*states), compare(*states[::-1])
    assert comparison.is_equal == (states[0].versions == states[1].versions)
    assert [(one.kind, one.place, one.left, one.right) for one in comparison.differences] == [
        (one.kind, one.place, one.right, one.left) for one in mirrored.differences
    ]


def test_the_form_in_json_names_code_place_and_sides() -> None:
    values: list[Mapping[str, Any]] = [
        one.to_json() for one in compare(State.of_lines([_schema("a", 1, 1)]), State.of_lines([])).differences
    ]
    assert values == [
        {
            "code": "SUBJECT",
            "context": ".",
            "subject": "a",
            "left": [{"version": 1, "id": 1, "deleted": False}],
            "right": None,
            "text": "a is on the left only, with 1 version: 1",
        }
    ]
