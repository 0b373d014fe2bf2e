"""`test`: given records, expected rows. A case is a folder with `records.jsonl`, `rows.jsonl` and `dead.jsonl`.

A line of `records.jsonl` is a record's value as JSON with the columns' names; `{"raw": "00..."}` gives a record's bytes
in hex. With source.union or streams, it is `{"topic": "...", "value": {...}}` or `{"topic": "...", "raw": "00..."}`,
and may have a `timestamp` in milliseconds. Neither Kafka nor a registry is needed if the folder has the schema, as
`value.avsc`, or `TOPIC.avsc` for each part of the union and each stream.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from magicbyte.cli.pipeline.outcome import FINDINGS
from magicbyte.cli.pipeline.session import pipeline_session, read_file
from serdes.console.outcome import BAD_USAGE, Ended


def test(options: argparse.Namespace) -> int:
    """Compare the rows and dead letters of each case with the expected ones; returns 100 if they differ."""
    pipeline = read_file(options)
    cases = sorted(path.parent for path in options.cases.rglob("records.jsonl"))
    if not cases:
        raise Ended(BAD_USAGE, f"{options.cases}: no folder in it has records.jsonl")
    differing = 0
    with pipeline_session(pipeline, options.master) as spark:
        from spark_avro.pipeline.run.cases import CaseRunner  # noqa: PLC0415 - with Spark

        runner = CaseRunner(spark, pipeline)
        for case in cases:
            schemas = _schemas_of(runner.schema_files, case, options.cases)
            rows, dead = runner.run(_read(case / "records.jsonl"), schemas)
            differences = [] if options.update else _differences(case, {"rows.jsonl": rows, "dead.jsonl": dead})
            if options.update:
                _write(case / "rows.jsonl", rows)
                _write(case / "dead.jsonl", dead)
            print(f"{'FAILED' if differences else 'ok'}  {case.relative_to(options.cases)}")
            for line in differences:
                print(f"    {line}")
            differing += bool(differences)
    sys.stdout.flush()
    return FINDINGS if differing else 0


def _schemas_of(names: Mapping[str, str], case: Path, cases: Path) -> dict[str, Path]:
    """The files with schemas, of the case or of all cases, by the topic that they are for."""
    found = {
        topic: next((folder / name for folder in (case, cases) if (folder / name).exists()), None)
        for topic, name in names.items()
    }
    return {topic: path for topic, path in found.items() if path is not None}


def _differences(case: Path, results: dict[str, list[dict[str, Any]]]) -> list[str]:
    lines = []
    for name, result in results.items():
        expected = _sorted(_read(case / name)) if (case / name).exists() else []
        actual = _sorted(result)
        lines += [f"{name}: missing {_line(row)}" for row in expected if row not in actual]
        lines += [f"{name}: unexpected {_line(row)}" for row in actual if row not in expected]
        if not lines and len(expected) != len(actual):
            lines.append(f"{name}: {len(actual)} lines, expected {len(expected)}")
    return lines


def _read(path: Path) -> list[dict[str, Any]]:
    try:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except ValueError as error:
        raise Ended(BAD_USAGE, f"{path}: this is no JSON: {error}") from None


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(f"{_line(row)}\n" for row in _sorted(rows)), encoding="utf-8")


def _sorted(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=_line)


def _line(row: Any) -> str:
    return json.dumps(row, sort_keys=True, ensure_ascii=False)
