"""Backups at every turn: the newest stay, other files are never touched, a failed round does not end them."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from magicbyte.cli.main import main
from magicbyte.kit.failure import Failure
from magicbyte.operations.backup.metrics import BackupMetrics
from magicbyte.operations.backup.output_file import OutputFile
from magicbyte.operations.backup.rounds import TimedFiles, run_rounds
from magicbyte.operations.backup.writing import Written, write_logical
from tests.operations.sources.samples import READING, quiet

_NOON = datetime(2026, 11, 28, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("backup.ndjson.zst", "backup-20261128T120000Z.ndjson.zst"),
        ("backup.zst", "backup-20261128T120000Z.zst"),
        ("backup.json", "backup-20261128T120000Z.json"),
        ("backup", "backup-20261128T120000Z"),
        ("a.b.ndjson", "a.b-20261128T120000Z.ndjson"),
    ],
)
def test_the_time_stands_before_the_ending(name: str, made: str, tmp_path: Path) -> None:
    assert TimedFiles(tmp_path / name, 1).next(_NOON) == tmp_path / made


def test_only_the_newest_backups_of_its_own_stay(tmp_path: Path) -> None:
    files = TimedFiles(tmp_path / "b.ndjson", 2)
    own = [files.next(_NOON + timedelta(hours=hour)) for hour in range(4)]
    for path in own:
        write_logical(READING, path, progress=quiet, more={})
    others = [
        tmp_path / name
        for name in ("b.ndjson", "b-x.ndjson", "b-20200101T000000Z.ndjson.zst", "bb-20200101T000000Z.ndjson")
    ]
    others.append(tmp_path / "b-20200101T000000Z.ndjson")  # its name, but no backup
    for path in others:
        path.write_text("another's")
    link = tmp_path / "b-20200102T000000Z.ndjson"
    link.symlink_to(own[-1])
    assert files.prune() == own[:2]
    assert sorted(tmp_path.iterdir()) == sorted([*own[2:], *others, link])
    assert TimedFiles(tmp_path / "b.ndjson", None).prune() == []


class _Stop(BaseException):
    """Ends the rounds."""


@pytest.fixture
def rounds(tmp_path: Path) -> Callable[[list[bool]], tuple[list[Written], list[str], list[float]]]:
    """Run rounds of which some fail; returns what was made and told, and the waits."""

    def run(outcomes: list[bool]) -> tuple[list[Written], list[str], list[float]]:
        made: list[Written] = []
        told: list[str] = []
        waits: list[float] = []

        def make(path: Path) -> Written:
            if not outcomes.pop(0):
                raise Failure("away")
            # Each round has a second of its own.
            return write_logical(READING, path.with_name(f"{len(made)}{path.name}"), progress=quiet, more={})

        def pause(seconds: float) -> None:
            waits.append(seconds)
            if not outcomes:
                raise _Stop

        with pytest.raises(_Stop):
            run_rounds(
                make,
                TimedFiles(tmp_path / "b.ndjson", 1),
                3600,
                on_made=made.append,
                on_failed=lambda error: told.append(str(error)),
                on_old_stay=lambda error: told.append(f"old: {error}"),
                pause=pause,
            )
        return made, told, waits

    return run


def test_a_round_that_fails_is_tried_again_at_the_next_turn(
    rounds: Callable[[list[bool]], tuple[list[Written], list[str], list[float]]],
) -> None:
    made, told, waits = rounds([True, False, True])
    assert (len(made), told) == (2, ["away"])
    assert all(0 < seconds <= 3600 for seconds in waits)


def test_metrics_tell_the_last_success_and_failures(tmp_path: Path) -> None:
    target = tmp_path / "backup.prom"
    metrics = BackupMetrics("b.ndjson", str(target), 5.0)
    metrics.failed()
    assert _samples(target.read_text()) == {
        "magicbyte_backup_last_success_timestamp_seconds": 5.0,
        "magicbyte_backup_failures_total": 1.0,
    }
    metrics.made(write_logical(READING, tmp_path / "b.ndjson", progress=quiet, more={}))
    samples = _samples(target.read_text())
    assert samples["magicbyte_backup_schemas"] == 2
    assert samples["magicbyte_backup_bytes"] == (tmp_path / "b.ndjson").stat().st_size
    assert samples["magicbyte_backup_last_success_timestamp_seconds"] > 1_700_000_000


def _samples(text: str) -> dict[str, float]:
    return {
        sample.name: sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.labels == {"file": "b.ndjson"} and not sample.name.endswith("_created")
    }


def test_the_second_writer_of_a_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "b.ndjson"
    with OutputFile(path) as file:
        file.write(b"{}\n")
        with pytest.raises(Failure, match="another process"), OutputFile(path):
            pass
    assert path.read_bytes().startswith(b'{}\n{"kind":"end","lines":1')
    assert sorted(tmp_path.iterdir()) == [path]


def test_the_next_backup_overwrites_the_file_of_a_killed_backup(tmp_path: Path) -> None:
    part = tmp_path / "b.ndjson.part"
    part.write_bytes(b"x" * 10_000)
    written = write_logical(READING, tmp_path / "b.ndjson", progress=quiet, more={})
    assert written.path.stat().st_size == written.size < 10_000
    assert not part.exists()


def test_a_stop_signal_ends_the_rounds_at_once(tmp_path: Path) -> None:
    source = write_logical(READING, tmp_path / "source.ndjson", progress=quiet, more={}).path
    command = [sys.executable, "-P", "-m", "magicbyte.cli.main", "backup", str(source), "-o", str(tmp_path / "b.zst")]
    with subprocess.Popen([*command, "--every", "1h", "--keep", "2"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(f"{tmp_path}/b-")
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    assert len(list(tmp_path.glob("b-*Z.zst"))) == 1
    assert not list(tmp_path.glob("*.part"))


def test_metrics_that_cannot_be_written_stop_neither_backups_nor_keep(tmp_path: Path) -> None:
    source = write_logical(READING, tmp_path / "source.ndjson", progress=quiet, more={}).path
    old = TimedFiles(tmp_path / "b.zst", 1).next(_NOON - timedelta(days=1000))
    write_logical(READING, old, progress=quiet, more={})
    command = [sys.executable, "-P", "-m", "magicbyte.cli.main", "backup", str(source), "-o", str(tmp_path / "b.zst")]
    command += ["--every", "1h", "--keep", "1", "--metrics", "/nowhere/x.prom"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(f"{tmp_path}/b-")
        told = next(line for line in process.stderr if "metrics" in line)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    assert told.startswith("magicbyte: --metrics /nowhere/x.prom: the file cannot be written")
    assert len(list(tmp_path.glob("b-*Z.zst"))) == 1
    assert not old.exists()


def test_a_round_reports_undeletable_backups_and_writes_the_new_backup(
    rounds: Callable[[list[bool]], tuple[list[Written], list[str], list[float]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(_folder: Path) -> Iterator[Path]:
        raise PermissionError(13, "denied")

    monkeypatch.setattr(Path, "iterdir", denied)
    made, told, _ = rounds([True])
    monkeypatch.undo()
    assert len(made) == 1
    assert [one.partition("the folder")[0] for one in told] == ["old: "]
    assert told[0].endswith("cannot be read: denied")


def test_the_report_of_a_backup_comes_before_the_error_of_its_metrics(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write_logical(READING, tmp_path / "source.ndjson", progress=quiet, more={}).path
    call = ["backup", str(source), "-o", str(tmp_path / "b.zst"), "--metrics", "/nowhere/x.prom"]
    assert main(call) == 1
    printed = capsys.readouterr()
    assert printed.out.startswith(f"{tmp_path}/b.zst: ")
    assert "--metrics /nowhere/x.prom: the file cannot be written" in printed.err
