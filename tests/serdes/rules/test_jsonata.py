"""JSONATA rules: conditions, transformations, bounds, and values of Avro on their way in and out."""

from __future__ import annotations

import json
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat.contracts.model import Rule
from compat.schema import SchemaText
from serdes.codec import EncodeError, compile_codec
from serdes.codec.schema import parse
from serdes.rules.context import Message, Ruled
from serdes.rules.error import RuleFailed
from serdes.rules.jsonata.bounds import Bounds, bounds_of
from serdes.rules.jsonata.document import datum, document
from serdes.rules.jsonata.executor import as_boolean
from serdes.rules.jsonata.expression import NOTHING, JsonataExpression, JsonataFailed, JsonataInvalid
from serdes.rules.jsonata.fit import Fitter
from serdes.rules.plan import Plan, rules_plan
from serdes.rules.settings import RuleSettings

MESSAGE = Message("people-value", "people", False, None, None)


def evaluated(text: str, value: Any = None, bounds: Bounds | None = None) -> Any:
    return JsonataExpression(text, bounds).evaluate(value)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("a", 1),
        ("n", None),
        ("missing", NOTHING),
        ("$merge([$, {'b': a + 1}])", {"a": 1, "n": None, "b": 2}),
        ("$sift($, function($v, $k) {$k != 'a'})", {"n": None}),
        ("$ ~> |$|{'a': 5}|", {"a": 5, "n": None}),
        ("{'x': n}", {"x": None}),
        ("$replace('abc', /(b)/, '[$1]')", "a[b]c"),
        ("$match('aB', /b/i).match", "B"),
        # The library's own bounds call this a stack overflow.
        ("$count($map([1..1000], function($x) {[$x, $x]}))", 1000),
        ("$eval('1 + 1')", 2),
        ("$pad('x', 3)", "x  "),
        ("$replace('aaa', 'a', '$0-$$')", "a-$a-$a-$"),
        ("$replace('aaa', 'a', 'b', 2)", "bba"),
        ("$replace('aaa', 'a', 'b', 0)", "aaa"),
        ("$length($replace($pad('', 1000000, 'a'), 'a', 'bb'))", 2_000_000),
        ("$now() > '2020'", True),
    ],
)
def test_an_expression_is_evaluated(text: str, result: Any) -> None:
    assert evaluated(text, {"a": 1, "n": None}) == result


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("($f := function($n) {$f($n)}; $f(1))", "it takes more than 200 ms (jsonata.timeout.ms)"),
        ("($f := function($n) {1 + $f($n)}; $f(1))", "it is nested deeper than 100 (jsonata.max.depth)"),
        ("$eval('($f := function($n) {$f($n)}; $f(1))')", "it takes more than 200 ms (jsonata.timeout.ms)"),
        ("[1..10000000]", "it makes a list of more than 10000 items, or passes one to a function"),
        ("$count(big)", "it makes a list of more than 10000 items, or passes one to a function"),
        ("[1..9999].([1..9999])", "it makes lists of more than 1000000 items in all"),
        ("$reduce([1..60], function($a, $b) {$a & $a}, 'x')", "it makes more than 64000000 characters of text"),
        ("$pad('x', 1000000000)", "it makes more than 64000000 characters of text"),
        ("$pad('x', -1000000000)", "it makes more than 64000000 characters of text"),
        (
            "$replace($pad('', 10000000, 'a'), 'a', 'bbbbbbbbbb')",
            "it makes more than 64000000 characters of text",
        ),
        ("$replace('a', '', 'b')", "Second argument of replace function cannot be an empty string (at character 0)"),
        ("1 / 0", "float division by zero"),
        ("$number(secret)", "a function raised ValueError"),
        ("$assert(false, secret)", "... (at character 8)"),
        ("secret.$abs()", "Context value is not a compatible type with argument ... of Object ... (at character 12)"),
        ("secret + 1", "The left side of the + operator must evaluate to a number"),
        ("$nothing(1)", "Attempted to invoke a non-function (at character 9)"),
        ("$error('must be small')", "must be small (at character 7)"),
    ],
)
def test_a_failing_expression_says_why_and_never_shows_values(
    text: str, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    value = {"secret": "hunter2", "big": list(range(20_000))}
    with pytest.raises(JsonataFailed) as raised:
        evaluated(text, value, Bounds(200 if "200 ms" in problem else 60_000, 100))
    assert str(raised.value) == problem
    assert "hunter2" not in "".join(traceback.format_exception(raised.value)).replace(repr(value), "")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "text", ["$replace(t, /(a+)+$/, '')", "$match(t, /^(a|aa)+$/)", "$contains(t, /(a*)*b/)", "$split(t, /(a|a?)+c/)"]
)
def test_patterns_take_linear_time(text: str) -> None:
    # A pattern that backtracks does not end before the test's time-out.
    evaluated(text, {"t": "a" * 5_000 + "!"}, Bounds(60_000))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("1 +", "Unexpected end of expression (at character 3)"),
        ("", "Unexpected end of expression (at character 0)"),
        ("$match(a, /(?=a)b/)", "RE2 cannot compile its regular expression /(?=a)b/"),
        ("(" * 20_000 + "1" + ")" * 20_000, "it is nested too deeply"),
    ],
)
def test_an_invalid_expression_is_refused(text: str, problem: str) -> None:
    with pytest.raises(JsonataInvalid) as raised:
        JsonataExpression(text)
    assert str(raised.value).startswith(problem)


def test_the_import_of_the_library_never_lowers_the_recursion_limit() -> None:
    before = sys.getrecursionlimit()
    evaluated("1")
    assert sys.getrecursionlimit() >= before


def test_threads_share_an_expression() -> None:
    expression = JsonataExpression("($f := function($n) {$n <= 0 ? 0 : $n + $f($n - 1)}; $f(deep) + a)")

    def many(number: int) -> list[Any]:
        return [expression.evaluate({"deep": 6, "a": number + index}) for index in range(20)]

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(many, range(8)))
    assert results == [[21 + number + index for index in range(20)] for number in range(8)]


@pytest.mark.parametrize(
    ("parameters", "bounds"),
    [
        ({}, Bounds(1000, 500)),
        ({"jsonata.timeout.ms": "50", "jsonata.max.depth": "7"}, Bounds(50, 7)),
        ({"timeout.ms": 60, "max.depth": 8}, Bounds(60, 8)),
        ({"jsonata.timeout.ms": 50, "timeout.ms": 60}, Bounds(50, 500)),
    ],
)
def test_bounds_are_read_by_both_names(parameters: dict[str, Any], bounds: Bounds) -> None:
    assert bounds_of(parameters) == bounds


@pytest.mark.parametrize("value", ["0", "-1", "1.5", "many", "", True, "9" * 30])
def test_a_bound_is_a_positive_whole_number(value: Any) -> None:
    with pytest.raises(ValueError, match=r"jsonata\.timeout\.ms must be a positive whole number"):
        bounds_of({"jsonata.timeout.ms": value})


@pytest.mark.parametrize(
    ("result", "truth"),
    [
        (True, True), (False, False), (None, False), ("", False), ("x", True), (0, False), (0.5, True), ([], False),
        ([0], False), ([0, [1]], True), ({}, False), ({"a": 0}, True), (print, False),
    ],
)  # fmt: skip
def test_a_result_counts_as_true_as_in_jsonata(result: Any, truth: bool) -> None:
    assert as_boolean(result) is truth


SCHEMA = json.dumps(
    {
        "type": "record",
        "name": "R",
        "fields": [
            {"name": "t", "type": {"type": "long", "logicalType": "timestamp-micros"}},
            {
                "name": "d",
                "type": ["null", {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}],
                "default": None,
            },
            {"name": "b", "type": ["string", "bytes"], "default": ""},
            {"name": "u", "type": {"type": "string", "logicalType": "uuid"}},
            {"name": "e", "type": {"type": "enum", "name": "E", "symbols": ["A", "B"]}},
            {
                "name": "x",
                "type": [
                    {"type": "record", "name": "P", "fields": [{"name": "v", "type": "int"}]},
                    {"type": "record", "name": "Q", "fields": [{"name": "v", "type": "int"}]},
                ],
            },
            {"name": "f", "type": {"type": "fixed", "name": "F", "size": 2}},
            {"name": "m", "type": {"type": "map", "values": ["null", "long"]}},
            {"name": "l", "type": {"type": "array", "items": ["int", "string"]}},
            {"name": "day", "type": {"type": "int", "logicalType": "date"}},
            {"name": "n", "type": "double"},
        ],
    }
)
VALUE: dict[str, Any] = {
    "t": datetime(2020, 1, 1, 1, 1, 1, 123_456, tzinfo=UTC),
    "d": Decimal("1.50"),
    "b": b"\x00\xff",
    "u": UUID(int=5),
    "e": "A",
    "x": ("Q", {"v": 3}),
    "f": b"\x01\x02",
    "m": {"a": None, "b": 2**60 + 1},
    "l": [1, "a", ("string", "z")],
    "day": date(2020, 1, 2),
    "n": 1.0,
}
NODE = parse(SCHEMA)
CODEC = compile_codec(SCHEMA)


def test_a_document_has_texts_for_what_json_lacks() -> None:
    assert json.loads(json.dumps(document(VALUE, NODE))) == {
        "t": "2020-01-01T01:01:01.123456Z", "d": "1.50", "b": "\x00\xff", "u": "00000000-0000-0000-0000-000000000005",
        "e": "A", "x": {"v": 3}, "f": "\x01\x02", "m": {"a": None, "b": 2**60 + 1}, "l": [1, "a", "z"],
        "day": "2020-01-02", "n": 1.0,
    }  # fmt: skip


@pytest.mark.parametrize("mode", ["WRITE", "READ", "UPGRADE"])
@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("$", {}),
        ("$merge([$, {'e': 'B'}])", {"e": "B"}),
        ("$ ~> |$|{'e': 'B'}|", {"e": "B"}),
        ("$merge([$, {'u': u, 'x': x, 'b': b}])", {}),
        (
            "$merge([$, {'t': '2021-01-01T00:00:00.000Z', 'd': '2.25', 'b': 'ab', 'n': 4 / 2, 'day': '2020-01-03'}])",
            {"t": datetime(2021, 1, 1, tzinfo=UTC), "d": Decimal("2.25"), "b": "ab", "n": 2.0, "day": date(2020, 1, 3)},
        ),
        (
            "$merge([$, {'t': 0, 'f': '\u0000\u00ff', 'd': null}])",
            {"t": datetime(1970, 1, 1, tzinfo=UTC), "f": b"\0\xff", "d": None},
        ),
    ],
)
def test_untouched_values_stay_and_new_ones_get_the_schemas_types(
    mode: str, text: str, changes: dict[str, Any]
) -> None:
    before = json.dumps(VALUE, default=repr)
    result = Fitter(NODE, mode).fit(evaluated(text, document(VALUE, NODE)))
    assert CODEC.decode(CODEC.encode(result)) == CODEC.decode(CODEC.encode({**VALUE, **changes}))
    assert json.dumps(VALUE, default=repr) == before
    if mode != "UPGRADE":
        assert result == {**VALUE, **changes}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "$merge([$, {'zz': 1}])",
            "$.zz: int does not fit no value (record R has no such field: the rule must leave it out)",
        ),
        ("$merge([$, {'e': 'hunter2'}])", "$.e: str does not fit enum E"),
        ("$merge([$, {'t': 'hunter2'}])", "$.t: str does not fit long (timestamp-micros)"),
        ("$merge([$, {'f': 'abc'}])", "$.f: str does not fit fixed F (3 bytes, not 2)"),
        ("$merge([$, {'d': true}])", "$.d: bool does not fit one of null, bytes"),
        (
            "$merge([$, {'x': {'v': 1}}])",
            "$.x: dict does not fit one of P, Q (it fits P and Q: tag it with the branch's name)",
        ),
        ("$merge([$, {'m': [1]}])", "$.m: list does not fit map"),
        ("[1]", "$: list does not fit record R"),
    ],
)
def test_a_result_that_does_not_fit_is_refused_with_its_place(text: str, problem: str) -> None:
    with pytest.raises(EncodeError) as raised:
        Fitter(NODE, "UPGRADE").fit(evaluated(text, document(VALUE, NODE)))
    assert str(raised.value) == problem


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
LEAVES = st.binary() | st.datetimes() | st.dates() | st.uuids() | st.decimals(allow_nan=False)


@settings(max_examples=60, deadline=None)
@given(
    st.recursive(JSON_VALUES | LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner))
)
def test_a_document_comes_back_as_the_datum(value: Any) -> None:
    seen = document(value)
    json.dumps(seen)
    assert datum(seen) == value
    assert datum(document(seen)) == value


def plan(rule: Rule, mode: str = "WRITE", schema: SchemaText | None = None) -> Plan:
    text = schema or SchemaText("JSON", "{}")
    ruled = Ruled("the schema", text, {"domainRules": [rule.to_json()]}, subject="people-value", version=1)
    return rules_plan(ruled, mode, RuleSettings())


@pytest.mark.parametrize(
    ("kind", "text", "outcome"),
    [
        ("CONDITION", "a = 1", {"a": 1}),
        ("CONDITION", "missing", {"a": 1}),
        ("CONDITION", "a = 2", "rule 'r' (JSONATA, WRITE) of subject people-value version 1 failed: a = 2"),
        ("CONDITION", "[]", "rule 'r' (JSONATA, WRITE) of subject people-value version 1 failed: []"),
        ("CONDITION", "null", "rule 'r' (JSONATA, WRITE) of subject people-value version 1 failed: null"),
        ("TRANSFORM", "{'b': a}", {"b": 1}),
        (None, "{'b': a}", {"b": 1}),
        ("TRANSFORM", "missing", {"a": 1}),
        (
            "TRANSFORM",
            "null",
            "rule 'r' (JSONATA, WRITE) of subject people-value version 1 failed: null: the result is null",
        ),
        (
            "TRANSFORM",
            "a +",
            "rule 'r' (JSONATA, WRITE) of subject people-value version 1 failed: a +: it is no JSONATA expression: "
            "Unexpected end of expression (at character 3)",
        ),
        (
            "TRANSFORM",
            "function($x) {1}",
            "rule 'r' (JSONATA, WRITE) of subject people-value version 1 failed: function($x) {1}: "
            "the result has a function",
        ),
    ],
)
def test_a_rule_is_carried_out(kind: str | None, text: str, outcome: Any) -> None:
    rules = plan(Rule("r", kind=kind, mode="WRITE", type="JSONATA", expr=text))
    message = {"a": 1}
    if isinstance(outcome, dict):
        assert rules.run(message, MESSAGE) == outcome
    else:
        with pytest.raises(RuleFailed) as raised:
            rules.run(message, MESSAGE)
        assert str(raised.value) == outcome
    assert message == {"a": 1}


def test_a_bound_of_the_settings_wins_over_that_of_the_rule() -> None:
    rule = Rule(
        "r", kind="TRANSFORM", mode="WRITE", type="JSONATA", expr="{'a': 1}", params={"jsonata.max.depth": "400"}
    )
    ruled = Ruled("the schema", SchemaText("JSON", "{}"), {"domainRules": [rule.to_json()]})
    strict = RuleSettings(parameter_sets={"_JSONATA_": {"max.depth": "1", "jsonata.max.depth": "1"}})
    with pytest.raises(RuleFailed, match="nested deeper than 1 "):
        rules_plan(ruled, "WRITE", strict).run({}, MESSAGE)


def test_the_rules_of_avro_and_protobuf_see_documents(protobuf_classes: Any) -> None:
    avro = plan(
        Rule("r", kind="TRANSFORM", mode="READ", type="JSONATA", expr="{'t': t, 'n': n + 1}"),
        "READ",
        SchemaText(
            "AVRO",
            '{"type": "record", "name": "S", "fields": [{"name": "t", "type": {"type": "long", "logicalType": '
            '"timestamp-millis"}}, {"name": "n", "type": ["null", "long"]}, '
            '{"name": "d", "type": "int", "default": 7}]}',
        ),
    )
    moment = datetime(2020, 1, 1, tzinfo=UTC)
    assert avro.run({"t": moment, "n": 1, "d": 3}, MESSAGE) == {"t": moment, "n": 2, "d": 7}
    text = 'syntax = "proto3"; message P { string given_name = 1; int64 n = 2; }'
    person = protobuf_classes({"p.proto": text})("P")
    protobuf = plan(
        Rule("r", kind="TRANSFORM", mode="WRITE", type="JSONATA", expr="$merge([$, {'givenName': givenName & '!'}])"),
        schema=SchemaText("PROTOBUF", text),
    )
    ada = person(given_name="ada", n=2**60)
    assert protobuf.run(ada, MESSAGE) == person(given_name="ada!", n=2**60)
    assert ada.given_name == "ada"
    unfit = plan(
        Rule("r", kind="TRANSFORM", mode="WRITE", type="JSONATA", expr="{'n': 'hunter2'}"),
        schema=SchemaText("PROTOBUF", text),
    )
    with pytest.raises(RuleFailed, match="the result is not the JSON form of P") as raised:
        unfit.run(ada, MESSAGE)
    assert "hunter2" not in str(raised.value).replace("{'n': 'hunter2'}", "")
