"""The guard of a rule's text ends at the first `;` outside of literals and comments."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat.contracts.cel.errors import ExpressionInvalid
from compat.contracts.cel.guard import split_guard
from compat.contracts.cel.options import CelOptions, cel_options

CASES: list[tuple[str, str | None, str]] = [
    ("a ; b", "a ", " b"),
    ("a", None, "a"),
    ("", None, ""),
    (";a", None, "a"),
    ("  \n;a", None, "a"),
    ("a;b;c", "a", "b;c"),
    ("';' == a ; b", "';' == a ", " b"),
    ('";" == a ; b', '";" == a ', " b"),
    (r"'\';' == a ; b", r"'\';' == a ", " b"),
    ("r'\\' ; b", "r'\\' ", " b"),
    ('R"\\" ; b', 'R"\\" ', " b"),
    ("b';' == a; b", "b';' == a", " b"),
    ("rb'\\';1", "rb'\\'", "1"),
    ("bR';\\';1", "bR';\\'", "1"),
    ("''';' ; ''';b", "''';' ; '''", "b"),
    ('""" ; "" ; """;b', '""" ; "" ; """', "b"),
    (r"'''\''';''';b", r"'''\''';'''", "b"),
    ("r'''\\''';b", "r'''\\'''", "b"),
    ("a // ;\n;b", "a // ;\n", "b"),
    ("a // ; b", None, "a // ; b"),
    ("a == '// ;' ; b", "a == '// ;' ", " b"),
    ("'a;\n;b", "'a;\n", "b"),
    ("'''a;b", None, "'''a;b"),
    ("x.matches('[;]') && y", None, "x.matches('[;]') && y"),
]


@pytest.mark.parametrize(("text", "guard", "expression"), CASES)
def test_the_guard_ends_at_the_first_separator(text: str, guard: str | None, expression: str) -> None:
    assert split_guard(text) == (guard, expression)


@given(st.text(alphabet="a;'\"\\rb/\n ", max_size=30))
def test_no_character_is_lost(text: str) -> None:
    guard, expression = split_guard(text)
    assert text.endswith(expression)
    rest = text.removesuffix(expression) if expression else text
    assert rest in ("", f"{guard};") or (guard is None and not rest.removesuffix(";").strip())


def test_a_parameter_turns_guards_off() -> None:
    assert cel_options({"cel.ignore.guard.separator": "true"}).split("a;b") == (None, "a;b")
    assert cel_options({}).split("a;b") == ("a", "b")


def test_the_parameters_of_a_rule() -> None:
    assert cel_options({}) == CelOptions(unsigned="int", ignores_guard=False)
    assert cel_options({"cel.unsigned.field.type": "UINT", "cel.regex.engine": "re2"}).unsigned == "uint"


@pytest.mark.parametrize(
    ("params", "text"),
    [
        ({"cel.regex.engine": "pcre"}, "cel.regex.engine=pcre is not supported: matches() searches with RE2"),
        ({"cel.unsigned.field.type": "long"}, "cel.unsigned.field.type=long is unknown; use int or uint"),
    ],
)
def test_the_guard_refuses_an_unsupported_parameter(params: dict[str, str], text: str) -> None:
    with pytest.raises(ExpressionInvalid, match=re.escape(text)):
        cel_options(params)
