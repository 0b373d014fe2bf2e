"""The classes of Avro schemas: a line of the specification for each case."""

from __future__ import annotations

import re
from typing import Any

import pytest

from compat.schema import Dependency
from magicbyte.generate.modules import record_files
from magicbyte.kit.failure import Failure
from tests.generate.packages import Package, files_of, source

E = {"type": "enum", "name": "E", "symbols": ["A", "class"]}
F = {"type": "fixed", "name": "F", "size": 2}
R: dict[str, Any] = {
    "type": "record",
    "name": "R",
    "fields": [{"name": "a", "type": "int", "default": 1}, {"name": "class", "type": "string"}],
}


def record(*fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": "Item", "fields": list(fields), **more}


def lines_of(schema: Any, name: str = "Item") -> list[str]:
    """The lines of a class's fields."""
    text = files_of(schema)["main.py"]
    body = text[text.index(f"class {name}:") :].partition("\n\n\n")[0]
    fields = body.partition("__aliases__")[2].partition("\n")[2]
    return [line[4:] for line in fields.splitlines() if line]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("boolean", "bool"),
        ("int", 'Annotated[int, "int32"]'),
        ("long", "int"),
        ("float", "float"),
        ("double", "float"),
        ("bytes", "bytes"),
        ("string", "str"),
        ("null", "None"),
        ({"type": "int", "logicalType": "date"}, "date"),
        ({"type": "int", "logicalType": "time-millis"}, "time"),
        ({"type": "long", "logicalType": "time-micros"}, "time"),
        ({"type": "long", "logicalType": "timestamp-micros"}, "datetime"),
        ({"type": "long", "logicalType": "local-timestamp-millis"}, "datetime"),
        ({"type": "long", "logicalType": "timestamp-nanos"}, 'Annotated[int, "timestamp-nanos"]'),
        # a logical type that does not fit its type is none
        ({"type": "string", "logicalType": "date"}, "str"),
        ({"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}, "Decimal"),
        ({"type": "string", "logicalType": "uuid"}, "UUID"),
        ({"type": "fixed", "name": "U", "size": 16, "logicalType": "uuid"}, "UUID"),
        ({"type": "fixed", "name": "D", "size": 12, "logicalType": "duration"}, "Duration"),
        ({"type": "fixed", "name": "P", "size": 4, "logicalType": "decimal", "precision": 4}, "Decimal"),
        (F, "F"),
        (E, "E"),
        (R, "R"),
        ("Item", "Item"),
        ({"type": "array", "items": "long"}, "list[int]"),
        ({"type": "map", "values": {"type": "array", "items": E}}, "dict[str, list[E]]"),
        (["null", "string"], "str | None"),
        (["string", "null"], "str | None"),
        (["string"], "str"),
        (["null", E, F, R], "E | F | R | None"),
        (["bytes", F], "bytes | F"),
        (["boolean", "int", "double"], 'bool | Annotated[int, "int32"] | float'),
        (["long", "double", "string", {"type": "map", "values": "long"}], "int | float | str | dict[str, int]"),
        (["float", "double"], 'Branch[Literal["float"], float] | Branch[Literal["double"], float]'),
        (["string", E], 'Branch[Literal["string"], str] | Branch[Literal["E"], E]'),
    ],
)
def test_each_type_has_its_python_type(kind: Any, expected: str) -> None:
    assert lines_of(record({"name": "x", "type": kind})) == [f"x: {expected}"]


@pytest.mark.parametrize(
    ("kind", "default", "expected"),
    [
        ("int", 5, "5"),
        ("double", 1, "1.0"),
        ("double", "NaN", 'float("nan")'),
        ("boolean", True, "True"),
        ("string", 'it\'s "quoted"\n', "'it\\'s \"quoted\"\\n'"),
        ("bytes", "\u00ff\u0000", 'b"\\xff\\x00"'),
        (["null", "string"], None, "None"),
        (["string", "null"], "x", '"x"'),
        (E, "class", "E.class_"),
        (F, "\u0001\u00ff", 'F(b"\\x01\\xff")'),
        ({"type": "array", "items": "int"}, [], "field(default_factory=list)"),
        ({"type": "map", "values": "int"}, {}, "field(default_factory=dict)"),
        ({"type": "array", "items": E}, ["A"], "field(default_factory=lambda: [E.A])"),
        ({"type": "map", "values": "int"}, {"k": 1}, 'field(default_factory=lambda: {"k": 1})'),
        (R, {"class": "x"}, 'field(default_factory=lambda: R(class_="x"))'),
        ({"type": "int", "logicalType": "date"}, 1, "date(1970, 1, 2)"),
        ({"type": "int", "logicalType": "time-millis"}, 1500, "time(0, 0, 1, 500000)"),
        ({"type": "long", "logicalType": "timestamp-millis"}, 0, "datetime(1970, 1, 1, 0, 0, 0, tzinfo=UTC)"),
        ({"type": "long", "logicalType": "local-timestamp-millis"}, 0, "datetime(1970, 1, 1, 0, 0, 0)"),
        ({"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}, "\u0064", 'Decimal("1.00")'),
        # what Python has no value for is no default
        ({"type": "int", "logicalType": "date"}, 2**31 - 1, None),
    ],
)
def test_each_default_is_an_expression_of_its_type(kind: Any, default: Any, expected: str | None) -> None:
    (line,) = lines_of(record({"name": "x", "type": kind, "default": default}))
    assert line.partition(" = ")[2] == (expected or "")


@pytest.mark.parametrize(
    ("wire", "name"),
    [
        ("class", "class_"),
        ("None", "None_"),
        ("self", "self"),
        ("__init__", "init_"),
        ("__x", "x_"),
        ("_", "_"),
        ("match", "match"),
        ("print", "print"),
    ],
)
def test_a_reserved_name_gets_an_underscore_and_keeps_its_wire_name(wire: str, name: str, package: Package) -> None:
    schema = record({"name": wire, "type": "string"})
    module = package(files_of(schema))("main")
    assert lines_of(schema) == [f"{name}: str"]
    assert module.__records__.names.get("Item", {}).get(name, name) == wire
    assert getattr(module.Item(**{name: "v"}), name) == "v"


def test_colliding_names_stay_distinct() -> None:
    schema = record(*({"name": name, "type": "int"} for name in ("class", "class_", "x_", "__x", "___x")))
    assert [line.partition(":")[0] for line in lines_of(schema)] == ["class__", "class_", "x_", "x__", "x___"]


def test_imports_give_way_to_fields_and_classes() -> None:
    names = ("int", "str", "date", "dataclass", "field", "ClassVar", "Table")
    schema = record(
        *({"name": name, "type": "long"} for name in names),
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
    )
    assert lines_of(schema) == [*(f"{name}: int_" for name in names), "day: date_"]


def test_a_field_with_the_name_of_a_class_in_its_record_gets_an_underscore() -> None:
    schema = record({"name": "R", "type": R}, {"name": "other", "type": "R"}, {"name": "Item", "type": "int"})
    assert lines_of(schema) == ["R_: R", "other: R", 'Item: Annotated[int, "int32"]']


def test_symbols_that_texts_and_enumerations_use_get_an_underscore(package: Package) -> None:
    symbols = ["name", "value", "mro", "count", "title", "_x_", "__y__", "_missing_", "class", "OK"]
    cls = package(files_of(record({"name": "e", "type": {**E, "symbols": symbols, "default": "OK"}})))("main").E
    assert {member.name: member.value for member in cls} == {
        "name_": "name", "value_": "value", "mro_": "mro", "count_": "count", "title_": "title", "x_": "_x_",
        "y_": "__y__", "missing_": "_missing_", "class_": "class", "OK": "OK",
    }  # fmt: skip
    assert cls("newer symbol") is cls.OK
    assert cls("mro") is cls.mro_


def test_a_fixed_checks_its_size(package: Package) -> None:
    cls = package(files_of(record({"name": "f", "type": F})))("main").F
    assert cls(b"ab") == b"ab"
    with pytest.raises(ValueError, match="F has 2 bytes, not 3"):
        cls(b"abc")
    with pytest.raises(TypeError, match="F takes bytes, not int"):
        cls(2)


def test_each_namespace_is_a_module_also_if_they_differ_by_case_alone(package: Package) -> None:
    inner = [
        {"type": "record", "name": "X", "namespace": space, "fields": []} for space in ("a.B", "a.b", "A.B", "import")
    ]
    schema = record(*({"name": f"f{index}", "type": kind} for index, kind in enumerate(inner)))
    files = files_of(schema)
    assert sorted(files) == ["__init__.py", "a_b.py", "a_b_.py", "a_b__.py", "import_.py", "main.py"]
    assert lines_of(schema) == ["f0: a_b__.X", "f1: a_b.X", "f2: a_b_.X", "f3: import_.X"]
    module = package(files)("main")
    assert [list(other.__records__.types) for other in module.__records__.modules] == [
        ["A.B.X"],
        ["a.B.X"],
        ["a.b.X"],
        ["import.X"],
    ]


def test_namespaces_that_refer_to_each_other_can_be_imported_in_any_order(package: Package) -> None:
    schema = {
        "type": "record",
        "name": "a.A",
        "fields": [
            {
                "name": "b",
                "type": {
                    "type": "record",
                    "name": "b.B",
                    "fields": [{"name": "a", "type": ["null", "a.A"], "default": None}],
                },
                "default": {},
            }
        ],
    }
    for first in ("a", "b"):
        load = package(files_of(schema))
        load(first)
        assert load("a").A() == load("a").A(b=load("b").B(a=None))


def test_references_are_in_the_module_of_their_file() -> None:
    address = {"type": "record", "name": "Address", "fields": []}
    person = record({"name": "home", "type": "Address"})
    text = source(address).text
    sources = [source(address, stem="address"), source(person, dependencies=(Dependency("Address", text),))]
    files = record_files(sources)
    assert sorted(files) == ["__init__.py", "address.py", "main.py"]
    assert "home: address.Address" in files["main.py"]
    assert '"type":"record","name":"Address"' in files["main.py"]


def test_one_name_with_two_definitions_is_refused() -> None:
    with pytest.raises(Failure, match=re.escape("file main2, schema sha256:0: Item differs from the one of file main")):
        files_of(record(), record({"name": "x", "type": "int"}))
    assert sorted(files_of(record(), record())) == ["__init__.py", "main.py"]


def test_docs_with_any_content_become_docstrings(package: Package) -> None:
    doc = 'A """quoted""" text\\ with \\n and \u202e.\n\n    An end"'
    schema = record({"name": "class", "type": "int", "doc": "Line one,\nline two."}, doc=doc)
    cls = package(files_of(schema))("main").Item
    assert cls.__doc__.startswith('A """quoted""" text\\ with \\n and \u202e.')
    assert "Attributes:\n        class_: Line one, line two." in cls.__doc__
    assert (cls.__fullname__, cls.__aliases__) == ("Item", ())
    assert "\u202e" not in files_of(schema)["main.py"]
