"""The modules that a check loads: neither servers nor clients, and of the parsers those of the types at hand."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    "confluent_kafka",
    "fastapi",
    "httpx",
    "pydantic",
    "pydantic_settings",
    "pyspark",
    "sqlalchemy",
    "starlette",
    "uvicorn",
    "serdes",
    "registry",
    "jsonschema",
}
SCHEMAS = {
    "a.avsc": '{"type": "record", "name": "A", "fields": []}',
    "a.schema.json": '{"type": "string"}',
    "a.proto": 'syntax = "proto3";',
}


def loaded(folder: Path, *arguments: str) -> set[str]:
    code = (
        "import sys, json\n"
        "from magicbyte.cli.main import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    )
    command = [sys.executable, "-P", "-c", code, *arguments]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize(
    ("file", "without"),
    [
        ("a.avsc", {"google.protobuf", "jsonschema_rs", "compat.json_schema", "compat.protobuf"}),
        ("a.schema.json", {"google.protobuf", "compat.avro", "compat.protobuf"}),
        ("a.proto", {"jsonschema_rs", "compat.avro", "compat.json_schema"}),
    ],
)
def test_a_check_of_one_file_loads_only_the_modules_of_its_type(tmp_path: Path, file: str, without: set[str]):
    (tmp_path / file).write_text(SCHEMAS[file])
    assert loaded(tmp_path, "check", "--against", "none") & (HEAVY | without) == set()


def test_help_loads_no_engine(tmp_path: Path):
    modules = loaded(tmp_path, "check", "--help")
    assert modules & (HEAVY | {"compat", "tomllib", "subprocess"}) == set()
