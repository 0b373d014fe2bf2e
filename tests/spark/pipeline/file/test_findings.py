"""Broken files: each finding has its line and column, and the nearest word."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from spark_avro.pipeline.file.place import PipelineError
from spark_avro.pipeline.file.reading import read_pipeline, read_pipelines
from tests.spark.pipeline.file.broken_files import BROKEN, GOOD, planted


def findings(text: str, tmp_path: Path) -> list[str]:
    file = tmp_path / "flights.yaml"
    file.write_text(text)
    with pytest.raises(PipelineError) as error:
        read_pipelines(file)
    return [str(finding).replace(f"{tmp_path}/flights.yaml:", "") for finding in error.value.findings]


def test_a_good_file_has_no_findings(tmp_path: Path) -> None:
    file = tmp_path / "flights.yaml"
    file.write_text(GOOD)
    [pipeline] = read_pipelines(file)
    assert pipeline.name == "flights"


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("earliest", "earliest"),
        ("latest", "latest"),
        ("2026-01-01T05:00:00Z", datetime(2026, 1, 1, 5, tzinfo=UTC)),
        ("{flights: {0: 100}}", {"flights": {"0": 100}}),
    ],
)
def test_a_source_starts_at_a_word_a_time_or_offsets(tmp_path: Path, start: str, expected: object) -> None:
    file = tmp_path / "flights.yaml"
    file.write_text(GOOD.replace("topics: [flights]", f"topics: [flights]\n  start: {start}"))
    assert read_pipeline(file).source.start == expected  # type: ignore[union-attr]


def test_a_start_that_is_nothing_of_all_is_refused_with_all(tmp_path: Path) -> None:
    text = GOOD.replace("topics: [flights]", "topics: [flights]\n  start: yesterday")
    [finding] = findings(text, tmp_path)
    assert finding.endswith(
        "source.start: must be a time such as 2026-01-01T00:00:00Z or earliest or latest or a mapping from name to a"
        " mapping from name to a whole number of at least 0, not 'yesterday'"
    )


@pytest.mark.parametrize(("old", "new", "finding"), BROKEN, ids=[new for _, new, _ in BROKEN])
def test_a_broken_file(old: str, new: str, finding: str, tmp_path: Path) -> None:
    text, line, column = planted(old, new)
    assert findings(text, tmp_path)[0] == f"{line}:{column}: {finding}"


_HERE = "kafka: {bootstrap.servers: 'broker:9092'}"


@pytest.mark.parametrize(
    ("one", "other", "is_shared"),
    [
        ("kafka: {topic: t, value: {format: string}}", f"kafka: {{topic: t, value: {{format: bytes}}, {_HERE}}}", True),
        (
            "kafka: {topic: t, value: {format: string}}",
            f"kafka: {{topic: u, value: {{format: string}}, {_HERE}}}",
            False,
        ),
        (
            "kafka: {topic: t, value: {format: string}}",
            "kafka: {topic: t, value: {format: string}, kafka: {bootstrap.servers: 'b:9092'}}",
            False,
        ),
        ("files: {path: /tmp/a}", "files: {path: 'file:///tmp/./a/', format: json}", True),
        ("files: {path: 's3a://b/a'}", "files: {path: 's3a://b/a/'}", True),
        ("files: {path: /tmp/a}", "files: {path: tmp/a}", False),
        ("files: {path: /tmp/a}", "delta: {path: /tmp/a}", False),
        ("delta: {path: /tmp/a}", "delta: {path: 'file:/tmp/a', mode: append}", True),
        ("sql: {url: 'sqlite:///x', table: t}", "sql: {url: 'sqlite+pysqlite:///./x', table: main.t}", True),
        ("sql: {url: 'sqlite:///x', table: t}", "sql: {url: 'sqlite:////x', table: t}", False),
        ("sql: {url: 'postgresql://h/d', table: t}", "sql: {url: 'postgresql+psycopg://h/d', table: public.t}", True),
        ("sql: {url: 'postgresql://h/d', table: t}", "sql: {url: 'postgresql://h/d', table: s.t}", False),
    ],
)
def test_two_sinks_with_one_target_are_refused_however_it_is_written(
    one: str, other: str, is_shared: bool, tmp_path: Path
) -> None:
    sink = "sink:\n  files: {path: /tmp/flights, time: at, partition: [dt, hour], late: 7d}"
    assert GOOD.count(sink) == 1
    text = GOOD.replace(sink, f"sinks: [{{{one}}}, {{{other}}}]")
    if is_shared:
        assert [finding for finding in findings(text, tmp_path) if "sinks: two sinks write to " in finding]
    else:
        (tmp_path / "flights.yaml").write_text(text)
        assert len(read_pipeline(tmp_path / "flights.yaml").all_sinks) == 2


def test_all_findings_come_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    broken = (
        GOOD.replace("every: 30s", "every: 30")
        .replace("late: 7d", "late: 7")
        .replace("tolerance: all", "tolerence: all")
    )
    assert findings(broken, tmp_path) == [
        "6:18: trigger.every: must be a duration such as 30s, 10m, 2h or 7d, not '30'",
        "21:70: sink.files.late: must be a duration such as 30s, 10m, 2h or 7d, not '7'",
        "23:10: errors.tolerence: no such setting; did you mean tolerance?",
    ]


def test_a_secret_is_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "s3cr3t")
    file = tmp_path / "flights.yaml"
    file.write_text(GOOD.replace("name: sha256", "name: 'hmac:${env:KEY}'"))
    pipeline = read_pipeline(file)
    assert "s3cr3t" not in repr(pipeline)
    file.write_text(GOOD.replace("checkpoint:", "kafka.password: [x]\ncheckpoint:"))
    with pytest.raises(PipelineError) as error:
        read_pipeline(file)
    assert "s3cr3t" not in str(error.value)


def test_documents_includes_and_overrides(tmp_path: Path) -> None:
    (tmp_path / "common.yaml").write_text("kafka: {bootstrap.servers: 'a:1', acks: all}\nevolve: {columns: fail}\n")
    text = GOOD.replace('kafka: {bootstrap.servers: "broker:9092"}', "include: common.yaml\nkafka: {acks: '1'}")
    file = tmp_path / "flights.yaml"
    file.write_text(text + "---\n" + text.replace("name: flights", "name: other"))
    first, second = read_pipelines(
        file, overrides=["source.limit.records=7", "kafka.client.id=x", "steps.0.where=true"]
    )
    assert (first.name, second.name) == ("flights", "other")
    assert dict(first.kafka) == {"bootstrap.servers": "a:1", "acks": "1", "client.id": "x"}
    assert first.evolve.columns == "fail"
    assert first.source.limit.records == 7  # type: ignore[union-attr]
    with pytest.raises(
        PipelineError, match=r"--set sink\.files\.pth: sink\.files\.pth: no such setting; did you mean path\?"
    ):
        read_pipelines(file, overrides=["sink.files.pth=x"])
    with pytest.raises(PipelineError, match="has several pipelines; choose one with --name: flights, other"):
        read_pipeline(file)


def test_an_error_in_an_included_file_names_that_file(tmp_path: Path) -> None:
    (tmp_path / "common.yaml").write_text("evolve:\n  colums: fail\n")
    file = tmp_path / "flights.yaml"
    file.write_text("include: [common.yaml]\n" + GOOD.replace("evolve: {new-version: refresh}\n", ""))
    with pytest.raises(PipelineError) as error:
        read_pipelines(file)
    assert str(error.value) == f"{tmp_path}/common.yaml:2:3: evolve.colums: no such setting; did you mean columns?"


def test_lint_imports_no_pyspark(tmp_path: Path) -> None:
    file = tmp_path / "flights.yaml"
    file.write_text(GOOD.replace("http://registry:8081", "${env:NOT_SET_HERE}"))
    code = (
        "import sys; from magicbyte.cli.main import main; code = main(['pipeline', 'lint', sys.argv[1]]);"
        "assert 'pyspark' not in sys.modules; assert 'numpy' not in sys.modules; sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code, file], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{file}: no findings\n", "")
    file.write_text(GOOD.replace("late: 7d", "lat: 7d"))
    done = subprocess.run([sys.executable, "-c", code, file], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == f"{file}:21:64: sink.files.lat: no such setting; did you mean late?\n"


def aliases(levels: int) -> str:
    lists = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lists += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]" for level in range(1, levels)]
    return "\n".join(lists)


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        (aliases(9), "1:16: the file has more than 10,000 values, with those that aliases repeat"),
        ("\n".join(f"k{number}: 1" for number in range(50_000)), "10000:8: the file has more than 10,000 values"),
        ("# " + "x" * 1024 * 1024, "cannot be read: has more than 1,048,576 bytes"),
        ("a: " + "[" * 200_000, "1:203: this is nested too deeply"),
        ("? " * 100_000 + "a", "1:401: this is nested too deeply"),
        (f"a: {'1' * 4301}", "1:4: this number has too many digits"),
    ],
    ids=["aliases", "flat", "long", "brackets", "keys", "digits"],
)
def test_a_file_that_would_take_long_is_refused(text: str, finding: str, tmp_path: Path) -> None:
    [told] = findings(text, tmp_path)
    assert finding in told


def test_a_pipeline_file_has_to_be_a_regular_file(tmp_path: Path) -> None:
    (tmp_path / "flights.yaml").symlink_to("/dev/zero")
    with pytest.raises(PipelineError, match=r"flights\.yaml: cannot be read: is no regular file"):
        read_pipelines(tmp_path / "flights.yaml")


def test_an_included_link_to_itself_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    (tmp_path / "flights.yaml").write_text("include: loop.yaml\n")
    with pytest.raises(PipelineError, match=r"flights\.yaml:1:10: include: loop\.yaml cannot be read"):
        read_pipelines(tmp_path / "flights.yaml")
