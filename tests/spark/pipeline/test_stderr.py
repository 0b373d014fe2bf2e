"""The stderr of a run that fails: one clear line, and the place of the stack trace."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

SCHEMA = json.dumps({"type": "record", "name": "F", "fields": [{"name": "id", "type": "int"}]})
FAILS = "steps: [{select: [\"if(id = 2, raise_error('no such id'), id) as id\"]}]"


@pytest.mark.parametrize(
    ("rest", "breaks", "reason"),
    [
        ("", True, "malformed payload: the 0 bytes after the header are not one value of schema id {id} "),
        (FAILS, False, "[USER_RAISED_EXCEPTION] no such id"),
        ('quality: [{name: small, expect: "id < 2", else: fail}]', False, "check 'small' failed for 1 of 2 rows"),
    ],
)
def test_a_broken_record_is_one_line(
    rest: str, breaks: bool, reason: str, topics: Any, avro: Any, pipeline_file: Any, tmp_path: Path
) -> None:
    topic = topics.create(partitions=1)
    [schema_id] = avro.register(f"{topic}-value", SCHEMA)
    first, second = (avro.message(schema_id, SCHEMA, {"id": number}) for number in (1, 2))
    topics.produce(topic, first, second[:5] if breaks else second)
    file = pipeline_file(topic, rest)
    run = _run(file)
    trace = tmp_path / "checkpoint" / "_magicbyte" / "failure.txt"
    own = [line for line in run.stderr.splitlines() if line.startswith("magicbyte pipeline: ")]
    assert run.returncode == 1
    assert len(own) == 1
    assert own[0].startswith("magicbyte pipeline: " + reason.format(id=schema_id, topic=topic))
    assert run.stderr.splitlines()[-1] == f"the stack trace is in {trace}"
    for word in ("Traceback", "\tat ", "ERROR ", "HTTP Request"):
        assert word not in run.stderr
    assert "Traceback (most recent call last)" in trace.read_text()
    assert own[0].removeprefix("magicbyte pipeline: ") in trace.read_text()
    if breaks:
        # A file that sets the level has all of Spark's log.
        file.write_text(file.read_text() + "spark: {spark.log.level: ERROR}\n")
        assert "ERROR MicroBatchExecution" in _run(file).stderr


def _run(file: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "magicbyte.cli.main", "pipeline", "run", str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=False)
