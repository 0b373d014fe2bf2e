"""The layout of classes is that of `ruff format`."""

from __future__ import annotations

import inspect
from pathlib import Path
from random import Random
from typing import Any

from magicbyte.generate.expressions import (
    NONE,
    Call,
    ClassName,
    Display,
    Either,
    Expression,
    Import,
    Lambda,
    Subscript,
    Text,
    annotated,
    either,
    laid_out,
)
from magicbyte.generate.literals import bytes_literal, docstring, text_literal, width
from tests.generate.packages import reformatted

FIELD = Import("dataclasses", "field")
TEXTS = ('"', "'", '"""', "\\", "a", " ", "\n", "\t", "é", "名", "\u202e", "\0", "#", "end")


def spell(name: Import | ClassName) -> str:
    return name.name


def kind(random: Random, depth: int) -> Expression:
    name = Import("m", "N" * random.randint(1, 30))
    choice = random.randrange(5) if depth else 0
    if choice == 1:
        return Subscript(Import("m", "list"), (kind(random, depth - 1),))
    if choice == 2:
        return Subscript(Import("m", "dict"), (Import("m", "str"), kind(random, depth - 1)))
    if choice == 3:
        return either([kind(random, depth - 1) for _ in range(random.randint(1, 5))])
    return NONE if choice == 4 else name


def value(random: Random, depth: int) -> Expression:
    choice = random.randrange(6) if depth else random.randrange(2)
    if choice == 0:
        return Text(text_literal("x" * random.randint(0, 20)))
    if choice == 1:
        return random.choice((NONE, Text("1"), Text('"x"')))
    inner = [value(random, depth - 1) for _ in range(random.randint(0, 4))]
    if choice == 2:
        return Display("[]", tuple((None, item) for item in inner))
    if choice == 3:
        return Display("{}", tuple((Text(f'"{index}"'), item) for index, item in enumerate(inner)))
    return Call(
        Import("m", "C" * random.randint(1, 30)), tuple((f"a{index}", item) for index, item in enumerate(inner))
    )


def default(random: Random) -> Expression | None:
    choice = random.randrange(4)
    if choice == 0:
        return None
    if choice == 1:
        return Call(FIELD, (("default_factory", Lambda(value(random, 3))),))
    return value(random, 0) if choice == 2 else Call(Import("m", "Decimal"), (("", Text('"1.50"')),))


def test_fields_of_any_type_and_default_are_laid_out_as_by_ruff(tmp_path: Path) -> None:
    random = Random(41)
    lines = []
    for index in range(1500):
        name = "n" * random.choice((1, 10, 40, 60, 70, 76, 80, 84, 90))
        lines += [f"class C{index}:", annotated(name, kind(random, 3), default(random), FIELD, spell), "", ""]
    assert reformatted({"fields.py": "\n".join(lines).rstrip() + "\n"}, tmp_path) == []


def test_calls_and_displays_are_laid_out_as_by_ruff(tmp_path: Path) -> None:
    random = Random(42)
    lines = []
    for index in range(500):
        made = Call(
            Import("m", "Table"), (("types", value(random, 4)), ("modules", Display("()", ((None, Text("a")),))))
        )
        lines.append(f"t{index} = {laid_out(made, spell, '', len(f't{index} = '))}")
    assert reformatted({"calls.py": "\n".join(lines) + "\n"}, tmp_path) == []


def test_literals_of_hostile_texts_are_written_as_by_ruff_and_mean_the_text(tmp_path: Path) -> None:
    random = Random(43)
    texts = ["".join(random.choices(TEXTS, k=random.randint(0, 6))) for _ in range(800)]
    source = "".join(f"t{index} = {text_literal(text)}\n" for index, text in enumerate(texts))
    source += "".join(
        f"b{index} = {bytes_literal(text.encode('utf-8', 'surrogatepass'))}\n" for index, text in enumerate(texts)
    )
    assert reformatted({"literals.py": source}, tmp_path) == []
    names: dict[str, object] = {}
    exec(source, names)
    assert [names[f"t{index}"] for index in range(len(texts))] == texts
    assert [names[f"b{index}"] for index in range(len(texts))] == [text.encode() for text in texts]


def test_docstrings_of_hostile_texts_are_written_as_by_ruff_and_stay_docstrings(tmp_path: Path) -> None:
    random = Random(44)
    texts = ["".join(random.choices(TEXTS, k=random.randint(1, 6))) for _ in range(800)]
    lines: list[str] = []
    for index, text in enumerate(texts):
        lines += [f"class C{index}:", *docstring(text or "x", "    "), "", "    a: int", "", ""]
    source = "\n".join(lines).rstrip() + "\n"
    assert reformatted({"docs.py": source}, tmp_path) == []
    names: dict[str, Any] = {}
    exec(source, names)
    for index, text in enumerate(texts):
        cls = names[f"C{index}"]
        assert cls.__annotations__ == {"a": "int"}
        assert inspect.cleandoc(cls.__doc__).split() == text.split()


def test_wide_signs_take_two_columns_and_marks_none(tmp_path: Path) -> None:
    assert [width(text) for text in ("ab", "名前", "e\u0301", "ünï")] == [2, 4, 1, 3]
    lines = [
        annotated(
            "n" * length,
            Import("builtins", "str"),
            Call(Import("m", "C"), (("", Text('"名前名前名前"')),)),
            FIELD,
            spell,
        )
        for length in range(50, 70)
    ]
    assert reformatted({"wide.py": "\n".join(["class C:", *lines]) + "\n"}, tmp_path) == []


def test_a_union_lists_none_last_and_each_type_once() -> None:
    members = [NONE, Import("builtins", "str"), Either((Import("builtins", "int"), NONE)), Import("builtins", "str")]
    assert either(members) == Either((Import("builtins", "str"), Import("builtins", "int"), NONE))
