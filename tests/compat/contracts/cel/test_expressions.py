"""Expressions: results, errors, limits, and what they read."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from compat.contracts.cel.declarations import evaluated, field_variables, inline_variables, untyped
from compat.contracts.cel.errors import EvaluationFailed, ExpressionInvalid
from compat.contracts.cel.expression import Expression, compile_expression
from compat.contracts.cel.schema_types.types import schema_types
from compat.schema import SchemaText

NOW = datetime(2026, 1, 2, 3, 4, 5, 678900, tzinfo=UTC)
MESSAGE: dict[str, Any] = {
    "age": 20,
    "name": "Ada",
    "nick": None,
    "pay": 1.5,
    "price": Decimal("12.50"),
    "tags": ["a", "b"],
    "address": {"zip": "8000"},
    "photo": b"\x00\xff",
    "secret": "geheim",
    "first-name": "Ada",
}


def compiled(text: str) -> Expression:
    return compile_expression(text, untyped())


def result(text: str, message: Any = MESSAGE) -> Any:
    return compiled(text).evaluate({"message": message, "now": NOW})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("message.age >= 18", True),
        ("message.age >= 18.0", True),
        ("message.age < 20u", False),
        ("message.age == 20.0", True),
        ("message.age != null", True),
        ("message.nick == null", True),
        ("1 == 1u && 2 > 1.5", True),
        ("message.age in [1.0, 20.0]", True),
        ("has(message.age) && !has(message.idd)", True),
        ("message['first-name'] == message.name", True),
        ("message.tags.exists(t, t == 'b')", True),
        ("message.tags.map(t, t + message.name)", ["aAda", "bAda"]),
        ("size(message.photo)", 2),
        ("message.photo == b'\\000\\377'", True),
        ("message.photo", b"\x00\xff"),
        ("message.name.lowerAscii().replace('a', '').split('d')", ["", ""]),
        ("'%s is %d'.format([message.name, message.age])", "Ada is 20"),
        ("message.name.charAt(1) + message.name.substring(1)", "dda"),
        ("['a', 'b'].join('-')", "a-b"),
        ("math.greatest(message.age, 3) + math.least(1, 2)", 21),
        ("math.ceil(message.pay)", 2.0),
        ("message.name.matches('d')", True),
        ("message.name.matches('^d$')", False),
        ("message.price", Decimal("12.50")),
        ("decimal('12.5') == message.price", True),
        ("message.price != decimal('12.500')", False),
        ("decimal('12.5') == null", False),
        ("[1].all(x, decimal('12.5') != message.price)", False),
        ("now > timestamp('2026-01-01T00:00:00Z') && now.getFullYear() == 2026", True),
        ("now", NOW),
        (
            "{'a': [message.price, b'\\000'], 'b': message.address}",
            {"a": [Decimal("12.50"), b"\0"], "b": {"zip": "8000"}},
        ),
        ("message.age > 100 || message.nick == null", True),
        ("message.idd == 1 || true", True),
        ("null", None),
    ],
)
def test_expressions_evaluate(text: str, expected: Any) -> None:
    found = result(text)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("message.idd", 'Key not found in map : "idd"'),
        ("message.age / 0", "divide by zero"),
        ("message.age + 9223372036854775807", "integer overflow"),
        ("message.name + 1", "No matching overloads found : _+_(string, int64)"),
        ("message.age && true", "No matching overloads found : _&&_"),
        ("type(message.age)", "the result is a type, which is no data"),
        ("decimals.div(message.price, decimal(0))", "decimals.div: division by zero"),
        # Values are never quoted.
        ("message.address[message.secret]", "Key not found in map : ..."),
        ("int(message.secret)", "cannot convert string to int"),
        ("message.tags[message.age]", "Index error: index=... size=..."),
        ("'x'.matches(message.secret + '(')", "invalid regular expression: missing )"),
        ("duration('1s') < duration(message.secret)", "String to Duration conversion failed"),
        (
            "duration(string(message.age) + '0000000000h') > duration('1s')",
            "Duration ...",
        ),
        ("decimal(message.secret)", "decimal: the text or number is no decimal"),
        ("timestamp.of(message.secret)", "timestamp.of: the text is no timestamp with a time zone"),
    ],
)
def test_failures_name_the_reason_and_no_value(text: str, detail: str) -> None:
    with pytest.raises(EvaluationFailed) as failed:
        result(text)
    assert str(failed.value) == detail


@pytest.mark.parametrize(
    ("text", "line", "column", "detail"),
    [
        ("message.age >", 1, 14, "Syntax error: mismatched input '<EOF>'"),
        ("message.age > agee", 1, 15, "undeclared reference to 'agee'"),
        ("1 +\n  'a'", 1, 3, "found no matching overload for '_+_' applied to '(int, string)'"),
        ("true &&\n  nope", 2, 3, "undeclared reference to 'nope'"),
        ("a b", 1, 3, "Syntax error: extraneous input 'b' expecting <EOF>"),
        ("now > 3", 1, 5, "found no matching overload for '_>_' applied to '(google.protobuf.Timestamp, int)'"),
        ("'a\0'", 1, 3, "the text has a NUL character"),
        ("1 +\n '\ud800'", 2, 3, "the text has half of a surrogate pair"),
        ("(" * 40 + "1" + ")" * 40, 1, 1, "the expression is nested deeper than 32 levels"),
        ("message" + ".a" * 40, 1, 1, "the expression is nested deeper than 32 levels"),
        ("variant('1') == 1", 1, 8, "undeclared reference to 'variant'; the functions of variants are not supported"),
        ("", 1, 1, "Syntax error: mismatched input '<EOF>'"),
    ],
)
def test_invalid_expressions_have_a_place_and_a_reason(text: str, line: int, column: int, detail: str) -> None:
    with pytest.raises(ExpressionInvalid) as invalid:
        compiled(text)
    assert (invalid.value.line, invalid.value.column, invalid.value.detail) == (line, column, detail)


def test_variants_are_refused_by_name() -> None:
    with pytest.raises(ExpressionInvalid, match="the functions of variants are not supported"):
        compiled("variants.parseJson('1')")


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("message.a.b > 1 && message.a.c", {"message": (("a", "b"), ("a", "c"))}),
        ("message.a.b > 1 && message.a", {"message": (("a",),)}),
        ("message.a > 1 && size(message) > 1", {"message": None}),
        ("message['a b'].c", {"message": (("a b", "c"),)}),
        ("message.a[0].b", {"message": (("a",),)}),
        ("message.a[message.k].b", {"message": (("a",), ("k",))}),
        ("has(message.a.b)", {"message": (("a", "b"),)}),
        ("message.l.all(message, message.x > 1)", {"message": (("l",),)}),
        ("message.l.all(x, x > message.y)", {"message": (("l",), ("y",))}),
        ("now > timestamp(message.t)", {"now": None, "message": (("t",),)}),
        ("{'a': message.b, message.k: 1}", {"message": (("b",), ("k",))}),
        ("[message.a].map(m, m.x)", {"message": (("a",),)}),
        ("1 == 1", {}),
    ],
)
def test_reads_are_the_chains_of_selections(text: str, reads: dict[str, Any]) -> None:
    found = compiled(text).reads
    assert {name: None if paths is None else set(paths) for name, paths in found.items()} == {
        name: None if paths is None else set(paths) for name, paths in reads.items()
    }


class Counting(dict[str, Any]):
    """A map that counts what is read of it."""

    read = 0

    def __getitem__(self, name: str) -> Any:
        self.read += 1
        return super().__getitem__(name)


def test_an_expression_converts_only_the_fields_that_it_reads() -> None:
    message = Counting({f"field{number}": object() for number in range(5_000)}, age=18)
    assert result("message.age >= 18", message) is True
    assert message.read == 1


def test_an_unused_binding_may_be_absent() -> None:
    assert compile_expression("value > 1", field_variables()).evaluate({"value": 2}) is True
    assert compile_expression("this.a == 'x'", inline_variables()).evaluate({"this": {"a": "x"}}) is True


@pytest.mark.parametrize(
    ("text", "kind", "may_be_bool"),
    [
        ("message.a", "dyn", True),
        ("message.a == 1", "bool", True),
        ("1 + 1", "int", False),
        ("'a' + 'b'", "string", False),
        ("[1]", "list(int)", False),
        ("{'a': message.b}", "map(string, dyn)", False),
        ("now", "timestamp", False),
        ("now - now", "duration", False),
        ("null", "null_type", False),
        ("type(1)", "type", False),
        ("decimal(1)", "confluent.type.Decimal", False),
        ("1u", "uint", False),
        ("b'a'", "bytes", False),
        ("1.0", "double", False),
    ],
)
def test_result_types(text: str, kind: str, may_be_bool: bool) -> None:
    expression = compiled(text)
    assert (expression.result_type, expression.may_be_bool) == (kind, may_be_bool)


ITEMS = list(range(1_000))


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("message.all(x, message.all(y, x + y >= 0))", ITEMS),
        ("message.map(x, message.map(y, x + y))", ITEMS),
        ("message.all(x, message.all(y, message.all(z, true)))", ITEMS),
        ("message.exists(x, x < 0)", list(range(10_000))),
    ],
)
def test_loops_end_after_9999_steps(text: str, items: list[int]) -> None:
    with pytest.raises(EvaluationFailed, match=r"^the expression took more than 9999 loop steps$"):
        result(text, items)


def test_loops_of_fewer_steps_run() -> None:
    assert result("message.exists(x, x == 9000)", list(range(9_900))) is True


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "(.*)*b$", "(a?){1000}a{1000}$"])
def test_patterns_take_linear_time(pattern: str) -> None:
    assert result(f"message.matches('{pattern}')", "a" * 20_000 + "!") is False


def test_threads_share_an_expression() -> None:
    expression = compiled("message.tags.exists(t, t == message.name) && message.price == decimal('1.5')")

    def run(number: int) -> list[bool]:
        name = f"n{number}"
        messages = [
            {"name": name, "tags": ["x" * at, name if at % 2 else "other"], "price": Decimal("1.50")}
            for at in range(300)
        ]
        return [expression.evaluate({"message": message}) for message in messages]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(run, range(8))) == [[bool(at % 2) for at in range(300)]] * 8


def test_the_engine_is_imported_when_an_expression_is_compiled() -> None:
    program = """
import sys
from compat.contracts.cel.expression import compile_expression
from compat.contracts.cel.declarations import untyped
assert "cel_expr_python" not in sys.modules
compile_expression("1 == 1", untyped())
assert "cel_expr_python" in sys.modules
"""
    subprocess.run([sys.executable, "-P", "-c", program], check=True)


@pytest.mark.slow
def test_records_of_more_fields_than_a_protobuf_message_has_are_checked_without_types():
    fields = [{"name": f"f{number}", "type": "string"} for number in range(9_000)]
    schema = SchemaText("AVRO", json.dumps({"type": "record", "name": "Wide", "fields": fields}))
    variables = schema_types(schema).rule()
    compile_expression("message.f8999 == 'x'", variables)
    expression = compile_expression("message.f8999 == 'x'", evaluated(variables))
    assert expression.evaluate({"message": {field["name"]: "x" for field in fields}}) is True
