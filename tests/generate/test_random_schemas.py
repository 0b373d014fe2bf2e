"""Random Avro schemas: their classes are formatted, can be imported, and carry the same data as dicts do."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serdes.codec import compile_codec
from tests.generate.packages import Package, files_of, reformatted
from tests.generate.random_schemas import Schemas, datum_of


def check(random: Random, folder: Path) -> None:
    schema = Schemas(random).record()
    files = files_of(schema, frozen=random.random() < 0.3)
    assert reformatted(files, folder / "formatted") == []
    made = Package(folder)
    try:
        record = root_class(made(files), schema)
        plain, of_class = compile_codec(json.dumps(schema)), compile_codec(json.dumps(schema), record=record)
        for _ in range(5):
            stored = plain.encode(datum_of(random, schema))
            instance = of_class.decode(stored)
            assert of_class.encode(instance) == stored
            assert type(instance) is record
            named = compile_codec(json.dumps(schema), record_names="branches")
            assert plain.encode(named.decode(stored)) == stored
    finally:
        made.forget()


def root_class(imported: Any, schema: Any) -> Any:
    names = [path.removesuffix(".py") for path in files_of(schema) if path != "__init__.py"]
    full = f"{schema['namespace']}.{schema['name']}" if schema["namespace"] else schema["name"]
    return next(module.__records__.types[full] for module in map(imported, names) if full in module.__records__.types)


@pytest.fixture
def importable(monkeypatch: pytest.MonkeyPatch) -> Any:
    with TemporaryDirectory() as folder:
        monkeypatch.syspath_prepend(folder)
        yield Path(folder)


@settings(max_examples=40, deadline=None)
@given(random=st.randoms(use_true_random=False))
def test_random_schemas_make_formatted_classes_that_carry_the_same_data(random: Random) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        check(random, Path(folder))
