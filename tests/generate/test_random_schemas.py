"""Random schemas with hostile names and texts: classes are formatted, hold no other code, and carry the data."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serdes.codec import compile_codec
from serdes.json_records import reader, to_json
from serdes.records import UNSET
from tests.generate import random_json_schemas
from tests.generate.packages import Package, files_of, reformatted
from tests.generate.random_schemas import Schemas, datum_of

#: The functions that generated modules call, besides their own classes.
FUNCTIONS = frozenset(
    {"dataclass", "field", "Table", "Branch", "Decimal", "UUID", "Duration", "date", "time", "datetime"}
)


def assert_only_classes(files: Mapping[str, str]) -> None:
    """Modules have imports, classes with annotated fields, and a table: a schema's texts are in literals alone."""
    for text in files.values():
        tree = ast.parse(text)
        kinds = {type(statement) for statement in tree.body}
        assert kinds <= {ast.Expr, ast.ImportFrom, ast.ClassDef, ast.Assign}
        classes = [statement for statement in tree.body if isinstance(statement, ast.ClassDef)]
        inner = [statement for cls in classes for statement in cls.body]
        assert {type(statement) for statement in inner} <= {ast.Expr, ast.AnnAssign, ast.Assign}
        assert all(isinstance(statement.value, ast.Constant) for statement in inner if isinstance(statement, ast.Expr))
        own = {cls.name for cls in classes}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                function = node.func.value if isinstance(node.func, ast.Subscript) else node.func
                name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
                assert name in own or isinstance(function, ast.Attribute) or name.rstrip("_") in FUNCTIONS | {"float"}


def check_avro(random: Random, folder: Path) -> None:
    schema = Schemas(random).record()
    files = files_of(schema, frozen=random.random() < 0.3)
    assert reformatted(files, folder / "formatted") == []
    assert_only_classes(files)
    made = Package(folder)
    try:
        text = json.dumps(schema)
        record = root_class(made(files), files, schema)
        plain, of_class = compile_codec(text), compile_codec(text, record=record)
        for_rules = compile_codec(text, record_names="branches")
        for _ in range(5):
            stored = plain.encode(datum_of(random, schema))
            instance = of_class.decode(stored)
            assert type(instance) is record
            assert of_class.encode(instance) == stored
            # Data for rules are written as they were, branches of unions included.
            assert plain.encode(for_rules.decode(stored)) == stored
    finally:
        made.forget()


def root_class(load: Callable[[str], Any], files: Mapping[str, str], schema: Any) -> Any:
    full = f"{schema['namespace']}.{schema['name']}" if schema["namespace"] else schema["name"]
    modules = [load(path.removesuffix(".py")) for path in files if path != "__init__.py"]
    return next(module.__records__.types[full] for module in modules if full in module.__records__.types)


def check_json(random: Random, folder: Path) -> None:
    schema = random_json_schemas.JsonSchemas(random).document()
    files = files_of(schema, schema_type="JSON", frozen=random.random() < 0.3)
    assert reformatted(files, folder / "formatted") == []
    assert_only_classes(files)
    made = Package(folder)
    try:
        types = made(files)("main").__records__.types.values()
        root = next(
            cls for cls in types if cls.__schema__ == json.dumps(schema, separators=(",", ":"), ensure_ascii=False)
        )
        for _ in range(5):
            datum = random_json_schemas.datum_of(random, schema, schema["definitions"])
            if not jsonschema_rs.is_valid(schema, datum):
                # Objects that hold themselves are cut.
                continue
            assert jsonschema_rs.is_valid(schema, to_json(reader(root)(datum)))
            instance = reader(root)(datum)
            written = to_json(instance)
            assert reader(root)(written) == instance
            named = {name: value for name, value in datum.items() if name in schema["properties"] and value is not None}
            assert named.keys() <= written.keys()
            assert UNSET not in written.values()
    finally:
        made.forget()


@pytest.mark.parametrize("check", [check_avro, check_json])
@settings(max_examples=12, deadline=None)
@given(random=st.randoms(use_true_random=False))
def test_random_schemas_make_formatted_classes_that_carry_the_data(
    check: Callable[[Random, Path], None], random: Random
) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        check(random, Path(folder))
