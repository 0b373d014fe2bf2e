"""`lint` reads SQL without Spark: texts that do not parse and names of no table are found at their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from magicbyte.cli.main import main
from tests.spark.pipeline.file.broken_files import GOOD, planted

_BAD = "does not parse as Spark SQL"
_TABLES = "evolve: {new-version: refresh}\ntables: {airports: {files: {path: /p}}}"

#: A part of the good file, what stands in its place, and the finding.
REFUSED = [
    ("where: delay is not null", "where: delay §>", f"steps[0].where: {_BAD}: something is missing after >"),
    ("where: delay is not null", "where: delay > 15 min §x", f"steps[0].where: {_BAD}: x is not expected here"),
    ("delay * 60 as seconds", "delay * 60 seconds §extra", f"steps[1].select[1]: {_BAD}: extra is not expected here"),
    ("delay * 60 as seconds", "delay§, late", "steps[1].select[1]: has several expressions; give one"),
    ("delay * 60 as seconds", "case when delay then §1", f"steps[1].select[1]: {_BAD}: something is missing after 1"),
    ("      from this", "      from this\n      wher §x > 1", f"steps[3].sql: {_BAD}: x is not expected here"),
    ("select *, delay", "§selct *, delay", f"steps[3].sql: {_BAD}: selct begins no query; did you mean select?"),
    ("from this", "from §thsi", "steps[3].sql: there is no table thsi; did you mean this?"),
    (
        "from this",
        "from this join §planes using (id)",
        "steps[3].sql: there is no table planes; name it under tables, or write a table of the session's catalog with"
        " its database: default.planes",
    ),
]


def lint(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    file = tmp_path / "flights.yaml"
    file.write_text(text)
    code = main(["pipeline", "lint", str(file)])
    answer = capsys.readouterr()
    return code, answer.out.replace(f"{file}:", ""), answer.err.replace(f"{file}:", "")


@pytest.mark.parametrize(("old", "new", "finding"), REFUSED, ids=[new for _, new, _ in REFUSED])
def test_wrong_sql_is_found_at_its_place(
    old: str, new: str, finding: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, line, column = planted(old, new)
    assert lint(text, tmp_path, capsys) == (2, "", f"{line}:{column}: {finding}\n")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("from this", "from this join airports using (code)"),
        ("from this", "from THIS a join Airports b on a.code = b.code"),
        ("from this", "from this join default.planes using (id)"),
        ("from this", "from (with x as (select * from this) select * from x) y"),
        ("from this", "from this lateral view explode(legs) t as leg"),
        ("from this", "from this, range(3)"),
        ("delay is not null", "x '1F' > code and cast(a as void) is null and b >>> 2 = 1"),
        ("delay is not null", "exists(_kafka.headers, header -> header.key = 'x')"),
        ("delay is not null", "comment is not null and show = 1 and set > 2"),
        ("delay is not null", "${env:NOT_SET_HERE} > 15"),
    ],
)
def test_sql_of_spark_has_no_findings(old: str, new: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = lint(GOOD.replace(old, new).replace("evolve: {new-version: refresh}", _TABLES), tmp_path, capsys)
    assert (code, err) == (0, "")
    assert "caution" not in out


@pytest.mark.parametrize(
    "rest",
    [
        "spark: {spark.sql.catalogImplementation: hive}",
        "spark: {spark.sql.defaultCatalog: lake}",
    ],
)
def test_a_session_with_a_catalog_may_have_tables_that_the_file_does_not_name(
    rest: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lint(f"{GOOD.replace('from this', 'from planes')}{rest}\n", tmp_path, capsys)[0] == 0


def test_a_python_step_may_make_views(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = GOOD.replace("steps:\n", "steps:\n  - python: m:f\n").replace("from this", "from planes")
    assert lint(text, tmp_path, capsys)[0] == 0


@pytest.mark.parametrize(
    ("old", "new", "caution"),
    [
        (
            "delay is not null",
            "delay §and",
            f"steps[0].where: {_BAD}: something is missing after and; if a name is meant, write it in backquotes",
        ),
        (
            "delay is not null\n",
            "delay is not null\n  - join: {table: airports, on: this.code = §airport.code}\n",
            "steps[1].join.on: airport is no table; did you mean airports?",
        ),
        (
            "from this",
            "from this join airports on this.code = §airport.code",
            "steps[3].sql: airport is no table; did you mean airports?",
        ),
    ],
)
def test_what_spark_may_take_is_a_caution(
    old: str, new: str, caution: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, line, column = planted(old, new)
    text = text.replace("evolve: {new-version: refresh}", _TABLES)
    assert lint(text, tmp_path, capsys) == (0, f"caution: {line}:{column}: {caution}\nflights: no findings\n", "")


def test_the_sql_of_a_pipeline_with_an_unset_variable_is_checked_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = GOOD.replace("broker:9092", "${env:NOT_SET_HERE}").replace("delay is not null", "delay >")
    assert lint(text, tmp_path, capsys) == (2, "", f"12:18: steps[0].where: {_BAD}: something is missing after >\n")
