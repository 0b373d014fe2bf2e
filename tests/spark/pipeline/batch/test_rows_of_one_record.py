"""The pipelines that make each row of one record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from spark_avro.pipeline.batch.prepared import makes_rows_of_one_record
from spark_avro.pipeline.file.reading import read_pipeline

UNIQUE = {"name": "one", "unique": {"key": ["n"]}, "else": "drop"}
NOT_NULL = {"name": "some", "not-null": ["n"], "else": "drop"}


@pytest.mark.parametrize(
    ("steps", "quality", "expected"),
    [
        ([], [], True),
        ([{"select": ["n"]}, {"where": "n > 1"}, {"explode": "items"}, {"key": ["n"]}], [], True),
        ([{"join": {"table": "fares", "on": ["n"]}}], [], True),
        ([{"join": {"stream": "others", "on": ["n"], "within": "1h"}}], [], False),
        ([{"sql": "SELECT * FROM this"}], [], False),
        ([{"deduplicate": {"by": ["n"], "within": "1h"}}], [], False),
        ([], [NOT_NULL], True),
        ([], [NOT_NULL, UNIQUE], False),
    ],
    ids=["none", "of a row", "a table", "a stream", "sql", "deduplicate", "a check of a row", "unique"],
)
def test_rows_of_one_record(tmp_path: Path, steps: list[Any], quality: list[Any], expected: bool) -> None:
    file = tmp_path / "pipeline.yaml"
    declared = {
        "version": 1,
        "name": "rows",
        "kafka": {"bootstrap.servers": "localhost:9092"},
        "registry": {"url": "http://localhost:8081"},
        "checkpoint": str(tmp_path / "checkpoint"),
        "source": {"topics": ["numbers"]},
        **({"streams": {"others": {"topics": ["others"]}}} if "others" in str(steps) else {}),
        "tables": {"fares": {"delta": {"path": str(tmp_path)}}},
        "steps": steps,
        "quality": quality,
        "sink": {"files": {"path": str(tmp_path / "out"), "format": "json"}},
    }
    file.write_text(yaml.safe_dump(declared))
    assert makes_rows_of_one_record(read_pipeline(file)) == expected
