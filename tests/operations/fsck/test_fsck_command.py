"""`magicbyte fsck`: its exit codes, its output, wrong calls, and repairs of databases; the calls of docs/fsck.md."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest

from magicbyte.cli.fsck.main import main
from magicbyte.cli.main import main as magicbyte
from magicbyte.operations.backup.writing import write_raw
from magicbyte.testing import running_registry
from registry.log.port import Record
from registry.log.sql import SqlLog
from registry.repair.finding import Severity
from tests.operations.fsck.planted import HEALTHY, PLANTED, Pair, key, spaced, value
from tests.operations.sources.foreign_files import karapace_v3
from tests.operations.sources.samples import Records, quiet

PAGE = Path(__file__).parents[3] / "docs" / "fsck.md"
FORMS = PLANTED["two values of a version"][1]


def database(folder: Path, pairs: Sequence[Pair]) -> str:
    """The URL of a database with records."""
    url = f"sqlite:///{folder / 'registry.db'}"
    log = SqlLog(url)
    if pairs:
        log.append([Record(raw or b"", encoded, 5) for raw, encoded in pairs], -1)
    log.close()
    return url


def written(url: str) -> list[tuple[bytes | None, bytes | None]]:
    log = SqlLog(url)
    entries = [(entry.key, entry.value) for entry in log.read(-1)]
    log.close()
    return entries


@pytest.mark.parametrize(
    ("pairs", "code", "severity"),
    [
        ((), 0, None),
        (HEALTHY["ids above a mark"], 0, None),
        (FORMS, 100, Severity.ERROR),
        (PLANTED["a key of no type"][1], 100, Severity.WARNING),
    ],
)
def test_the_exit_code_tells_whether_something_is_wrong(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    pairs: Sequence[Pair],
    code: int,
    severity: str | None,
) -> None:
    url = database(tmp_path, pairs)
    assert main([url, "--output", "json"]) == code
    report = json.loads(capsys.readouterr().out)
    assert [finding["severity"] for finding in report["findings"]] == ([severity] if severity else [])
    assert (report["records"], report["offset"]) == (len(pairs), len(pairs) - 1)
    assert main([url]) == code
    assert ("nothing found" in capsys.readouterr().out) == (code == 0)


def test_fsck_prints_a_finding_with_its_place_and_its_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = database(tmp_path, FORMS)
    main([url])
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [
        "error   KEY_FORMS (offset 0, 1): version 1 of a is in the log under 2 byte forms of its key; compaction keeps "
        "2 records of it, and a tombstone removes one",
        f"        key {key('a', 1).decode()}",
        f"        key {spaced('a', 1).decode()}",
    ]
    assert lines[-2].startswith("KEY_FORMS: let one server alone write the topic, then run ")
    assert lines[-1] == f"1 error in {url}, 2 records up to offset 1"
    main([url, "--output", "json"])
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert {name: finding[name] for name in ("code", "offsets", "context", "subject", "version", "id")} == {
        "code": "KEY_FORMS",
        "offsets": [0, 1],
        "context": ".",
        "subject": "a",
        "version": 1,
        "id": 1,
    }


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--repair", "NO_CODE", "--offline"], "--repair NO_CODE: there is no such code; there are KEY_FORMS, "),
        (["--repair", "GARBAGE", "--offline"], "--repair GARBAGE: no program can decide this; compaction removes"),
        (["--ignore", "key_forms"], "--ignore key_forms: there is no such code"),
        (["--topics", "orders"], "--topics needs --bootstrap-servers"),
        (["--repair", "--offline", "--backup", "/nowhere/file"], "/nowhere"),
        (["--repair", "--offline", "--backup", __file__], "is there already, and a backup before a repair replaces"),
        (["--repair", "--schema-registry-url", "http://127.0.0.1:1", "--backup", "unused"], "http://127.0.0.1:1"),
    ],
)
def test_a_repair_that_cannot_be_made_writes_nothing(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    text: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    pairs = (*FORMS, *PLANTED["an id of two texts in a context"][1][1:])
    url = database(tmp_path, pairs)
    assert magicbyte(["fsck", url, *arguments, "--property", "max.retries=0"]) == (3 if "127.0.0.1:1" in text else 1)
    assert text in capsys.readouterr().err
    assert written(url) == list(pairs)


def test_a_repair_tells_that_it_waits_for_a_decision(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = (*FORMS, (key("b", 1), value("b", 1, 1, "long")))
    url = database(tmp_path, pairs)
    assert main([url, "--repair", "--offline"]) == 100
    assert "a decision about ID_TWO_CONTENTS, or a key, is missing for 1 finding" in capsys.readouterr().err
    assert written(url) == list(pairs)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["a", "--dry-run"],
        ["a", "--offline"],
        ["a", "--backup", "f"],
        ["a", "--repair"],
        ["a", "--repair", "--offline", "--schema-registry-url", "http://127.0.0.1:1"],
    ],
)
def test_a_wrong_call_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "usage: magicbyte fsck" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("source", ["kafka:127.0.0.1:1", "http://127.0.0.1:1"])
def test_fsck_reports_a_source_that_does_not_answer(source: str) -> None:
    assert main([source, "--property", "max.retries=0"]) == 3


def test_a_dry_run_prints_the_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = database(tmp_path, FORMS)
    assert main([url, "--repair", "--dry-run"]) == 100
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == f"    {'tombstone':24} key {spaced('a', 1).decode()}"
    assert written(url) == list(FORMS)


def test_a_database_is_repaired_offline_and_its_backup_has_the_records_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    url = database(tmp_path, FORMS)
    assert main([url, "--repair", "--offline"]) == 0
    assert [(raw, encoded is None) for raw, encoded in written(url)[3:]] == [
        (spaced("a", 1), True),
        (key("a", 1), False),
    ]
    (backup,) = tmp_path.glob("magicbyte-fsck-*.ndjson.zst")
    capsys.readouterr()
    # The backup is a source, too.
    assert main([str(backup), "--output", "json"]) == 100
    assert [one["code"] for one in json.loads(capsys.readouterr().out)["findings"]] == ["KEY_FORMS"]
    assert magicbyte(["fsck", str(backup), "--repair", "--offline", "--backup", str(tmp_path / "b")]) == 1
    assert "--offline needs kafka:, sqlite: or postgresql:" in capsys.readouterr().err


def test_a_running_registry_on_a_database_is_checked_and_repairs_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = (*FORMS, *PLANTED["an id of two texts in a context"][1][1:])
    url = database(tmp_path, pairs)
    with running_registry(url) as server:
        assert main([server.url, "--output", "json"]) == 100
        report = json.loads(capsys.readouterr().out)
        assert [(one["code"], one["context"], one["id"]) for one in report["findings"]] == [
            ("ID_TWO_CONTENTS", ".eu", 1)
        ]
        assert "shows the state alone" in report["notes"][0]
        (line,) = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line == CALL]
        arguments = shlex.split(line.replace("http://localhost:8081", server.url))
        assert magicbyte(arguments[1:]) == 100
        # A URL has no log to back up.
        assert magicbyte(["fsck", server.url, "--repair", "--schema-registry-url", server.url]) == 1
        assert "has no log to repair" in capsys.readouterr().err
        repair = [url, "--repair", "--schema-registry-url", server.url, "--backup", str(tmp_path / "b")]
        assert main([*repair, "--ignore", "ID_TWO_CONTENTS"]) == 0
        assert spaced("a", 1) in [raw for raw, encoded in written(url) if encoded is None]


CALL = "magicbyte fsck http://localhost:8081"


def test_a_registry_of_another_log_repairs_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = database(tmp_path, FORMS)
    with running_registry() as server:
        repair = ["fsck", url, "--repair", "--schema-registry-url", server.url, "--backup", str(tmp_path / "b")]
        assert magicbyte(repair) == 1
    assert "is on another log than sqlite:" in capsys.readouterr().err
    assert written(url) == list(FORMS)


@pytest.mark.parametrize(
    ("others", "told"),
    [
        (FORMS, "is on another log than sqlite:"),
        ((HEALTHY["ids above a mark"][0], *FORMS), "is on another log than sqlite:"),
    ],
)
def test_a_registry_on_a_log_with_the_same_faults_is_not_changed(
    others: Sequence[Pair], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other").mkdir()
    url, other = database(tmp_path, FORMS), database(tmp_path / "other", others)
    with running_registry(other) as server:
        before = written(other)
        repair = ["fsck", url, "--repair", "--schema-registry-url", server.url, "--backup", str(tmp_path / "b")]
        assert magicbyte(repair) == 1
        assert written(other) == before
    assert told in capsys.readouterr().err
    assert written(url) == list(FORMS)


def test_the_repair_refuses_a_registry_whose_faults_differ_from_those_of_the_backup(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file has no id of its log, so what would be repaired is compared."""
    (tmp_path / "other").mkdir()
    raw = tmp_path / "raw.ndjson"
    assert magicbyte(["backup", database(tmp_path, FORMS), "--format", "raw", "-o", str(raw)]) == 0
    other = database(tmp_path / "other", (HEALTHY["ids above a mark"][0], *FORMS))
    with running_registry(other) as server:
        before = written(other)
        repair = ["fsck", str(raw), "--repair", "--schema-registry-url", server.url, "--backup", str(tmp_path / "b")]
        assert magicbyte(repair) == 1
        assert written(other) == before
    assert f"has other faults: it is not {raw}, or it has changed since that was read" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("v1.json", json.dumps([[key("a", 1).decode(), FORMS[0][1].decode()]]), "keys may have been rewritten"),  # type: ignore[union-attr]
        ("logical", "", "this file has the state alone"),
    ],
)
def test_fsck_says_which_checks_a_file_does_not_allow(
    name: str, content: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.write_text(content)
    if not content:
        assert magicbyte(["backup", database(tmp_path, FORMS), "-o", str(path)]) == 0
    capsys.readouterr()
    assert main([str(path)]) == 0
    out = capsys.readouterr().out
    assert told in out
    assert "a registry's URL" not in out
    assert value("a", 1, 1) == FORMS[0][1]


@pytest.mark.parametrize(
    ("configs", "code", "told"),
    [
        ({"cleanup.policy": "compact", "partitions": "1", "replication.factor": "3"}, 0, []),
        ({"cleanup.policy": "compact"}, 0, []),
        ({"cleanup.policy": "delete"}, 100, ["error cleanup.policy=delete"]),
        ({"partitions": "2", "replication.factor": "1"}, 100, ["error partitions=2", "note replication.factor=1"]),
        ({"min.insync.replicas": "2"}, 0, []),
        (
            {"min.insync.replicas": "2", "replication.factor": "1"},
            100,
            ["note replication.factor=1", "error min.insync.replicas=2"],
        ),
        ({"min.insync.replicas": "1", "replication.factor": "3"}, 100, ["warning min.insync.replicas=1"]),
    ],
)
def test_the_settings_of_the_topic_in_a_raw_backup_are_checked(
    configs: dict[str, str], code: int, told: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, path = Records([]), tmp_path / "raw.ndjson"
    source.configs = configs
    write_raw(source, path, progress=quiet)
    assert main([str(path), "--output", "json"]) == code
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert [f"{one['severity']} {one['text'].split(' has ')[1].split(': ')[0]}" for one in findings] == told
    assert all(one["text"].startswith(f"the topic in {path} has ") for one in findings)
    assert "--bootstrap-server" not in json.dumps(findings)
    assert magicbyte(["fsck", str(path), "--repair", "TOPIC", "--offline"]) == 1


def test_the_settings_of_the_topic_in_a_backup_of_karapace_are_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = karapace_v3(tmp_path / "v3", [], topic_configurations={"cleanup.policy": "delete"})
    assert main([str(path)]) == 100
    assert f"the topic in {path} has cleanup.policy=delete: Kafka deletes schemas" in capsys.readouterr().out
    assert magicbyte(["fsck", str(path), "--repair", "TOPIC", "--offline"]) == 1
    assert f"--repair TOPIC: {path} is a file" in capsys.readouterr().err
