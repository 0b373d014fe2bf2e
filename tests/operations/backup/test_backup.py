"""`magicbyte backup` of running registries, logs and files: the whole state, or no file."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from magicbyte.cli.main import main
from magicbyte.operations.sources.opening import Properties, open_file, open_source
from registry.app import create_app
from registry.settings import RegistrySettings
from tests.operations.backup.proxied import AS_ADMIN, Proxied, lacks_export, proxied, some_rights

_INT, _LONG = '"int"', '"long"'


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Proxied]:
    """A registry with two contexts, references, deleted versions, settings, and an id that was given and deleted."""
    settings = RegistrySettings.from_properties({"magicbyte.storage": f"sqlite:///{tmp_path}/registry.db"})
    with proxied(create_app(settings)) as made:
        fill(made)
        yield made


def fill(made: Proxied) -> None:
    record = json.dumps({"type": "record", "name": "R", "fields": [{"name": "x", "type": "string"}]})
    holder = json.dumps({"type": "record", "name": "H", "fields": [{"name": "r", "type": "R"}]})
    made.register("base", record)
    made.register("holder", holder, references=[{"name": "R", "subject": "base", "version": 1}])
    made.register("gone", _INT)
    made.register("part", _INT)
    made.ask("PUT", "/config/part", {"compatibility": "NONE"})
    made.register("part", _LONG)
    made.register(":.eu:x", '{"type":"object"}', schemaType="JSON")
    made.register("last", '"bytes"')
    made.ask("DELETE", "/subjects/gone")
    made.ask("DELETE", "/subjects/part/versions/1")
    made.ask("DELETE", "/subjects/last")
    made.ask("DELETE", "/subjects/last?permanent=true")
    made.ask("PUT", "/mode/base", {"mode": "READONLY"})
    made.ask("PUT", "/config", {"compatibility": "FULL"})
    made.ask("PUT", "/config/:.eu:", {"compatibility": "FORWARD"})


def lines_of(path: Path) -> list[dict[str, object]]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


def test_a_backup_equals_the_log_and_an_empty_registry_accepts_the_backup(registry: Proxied, tmp_path: Path) -> None:
    path = tmp_path / "registry.ndjson"
    assert main(["backup", registry.url, "-o", str(path)]) == 0
    with open_source(f"sqlite:///{tmp_path}/registry.db", Properties()) as log, open_file(path) as file:
        assert file.read().state == log.read().state
    manifest, *_, end = lines_of(path)
    assert manifest["counts"] == {"contexts": 2, "schemas": 6, "configs": 3, "modes": 1}
    assert (manifest["kind"], manifest["format"], end["kind"]) == ("manifest", 2, "end")
    copy_settings = RegistrySettings.from_properties({"magicbyte.storage": "memory:"})
    with proxied(create_app(copy_settings)) as copy:
        answer = copy.application.ask("POST", "/import", [], body=path.read_bytes())
        report = json.loads(answer.body)
        assert (answer.status, report["refused"], report["imported"]["schema"]) == (200, [], 6)
        assert "warnings" not in report
        # The id of the subject that was deleted for good is not given again.
        assert copy.register("new", '"float"') == 6


@pytest.mark.parametrize("name", ["raw.ndjson", "raw.ndjson.zst"])
def test_a_raw_backup_has_every_record_and_becomes_a_logical_one(name: str, registry: Proxied, tmp_path: Path) -> None:
    raw, logical = tmp_path / name, tmp_path / "logical.ndjson.zst"
    database = f"sqlite:///{tmp_path}/registry.db"
    assert main(["backup", database, "-o", str(raw), "--format", "raw"]) == 0
    with open_source(database, Properties()) as log, open_file(raw) as file:
        assert list(file.records()) == list(log.records())  # type: ignore[attr-defined]  # both have records
        state = log.read().state
    assert main(["backup", str(raw), "-o", str(logical)]) == 0
    assert open_file(logical).read().state == state
    assert registry.paths == []


def test_a_registry_of_another_vendor_is_read_version_by_version(registry: Proxied, tmp_path: Path) -> None:
    registry.refuse = lacks_export
    path = tmp_path / "other.ndjson"
    assert main(["backup", registry.url, "-o", str(path)]) == 0
    reading = open_file(path).read()
    with open_source(f"sqlite:///{tmp_path}/registry.db", Properties()) as log:
        assert reading.state == log.read().state
    manifest = lines_of(path)[0]
    assert manifest["defaults"] == {"compatibilityLevel": "FULL", "mode": "READWRITE"}
    assert [note.partition(" does not")[0].partition(" of subjects")[0] for note in reading.notes] == [
        "the registry",
        "settings",
    ]


def test_the_backup_reads_changed_subjects_again(registry: Proxied, tmp_path: Path) -> None:
    registry.refuse = lacks_export
    changes = {
        "/subjects/part/versions/2": [
            lambda: registry.register("late", '"double"'),
            lambda: registry.ask("DELETE", "/subjects/part"),
        ],
        "/subjects/late/versions/1": [lambda: registry.ask("DELETE", "/subjects/gone?permanent=true")],
    }

    def change(path: str) -> None:
        waiting = changes.get(path.partition("?")[0])
        if waiting:
            waiting.pop(0)()

    registry.before = change
    path = tmp_path / "other.ndjson"
    assert main(["backup", registry.url, "-o", str(path)]) == 0
    with open_source(f"sqlite:///{tmp_path}/registry.db", Properties()) as log:
        assert open_file(path).read().state == log.read().state
    # The second of them was waiting for a version that changed no more.
    assert sum(map(len, changes.values())) == 1


@pytest.mark.slow
def test_a_registry_that_never_stands_still_is_not_backed_up(
    registry: Proxied, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    registry.refuse = lacks_export
    made = iter(range(1000))

    def change(path: str) -> None:
        if path.startswith("/subjects?"):
            registry.register(f"more{next(made)}", _INT)

    registry.before = change
    assert main(["backup", registry.url, "-o", str(tmp_path / "other.ndjson")]) == 1
    assert "changes faster than it can be read" in capsys.readouterr().err
    assert list(tmp_path.glob("other*")) == []


def test_the_backup_asks_a_busy_registry_again_after_the_requested_time(registry: Proxied, tmp_path: Path) -> None:
    refusals = iter([(429, {"Retry-After": "0"})] * 5 + [(503, {"Retry-After": "0"})] * 3)

    def refuse(path: str) -> tuple[int, dict[str, str]] | None:
        return lacks_export(path) or (next(refusals, None) if "/versions/" in path else None)

    registry.refuse = refuse
    path = tmp_path / "other.ndjson"
    fast = ["--property", "retries.wait.ms=1"]
    assert main(["backup", registry.url, "-o", str(path), *fast]) == 0
    assert next(refusals, None) is None
    assert len(open_file(path).read().state.versions) == 6


def test_a_note_names_an_id_with_another_schema(registry: Proxied, tmp_path: Path) -> None:
    """A registry that answers with another schema for an id than for the version that has it."""
    registry.refuse = lambda path: lacks_export(path) or ((404, {}) if path.startswith("/schemas/ids/1") else None)
    path = tmp_path / "other.ndjson"
    assert main(["backup", registry.url, "-o", str(path)]) == 0
    notes = open_file(path).read().notes
    assert any(note.startswith("id 1 (version 1 of") and "not known under /schemas/ids" in note for note in notes)
    assert any("does not tell the highest id" in note for note in notes)


@pytest.mark.parametrize("takes_offset", [True, False])
def test_lists_are_read_to_their_last_page(takes_offset: bool, tmp_path: Path) -> None:
    """A server that ignores `offset` answers with the first page again, at which reading ends."""
    limits = {f"{kind}.search.default.limit": 2 for kind in ("subject", "subject.version", "context")}
    settings = RegistrySettings.from_properties({"magicbyte.storage": "memory:", **limits})
    with proxied(create_app(settings)) as registry:
        fill(registry)
        registry.register("part", '"double"')
        registry.register(":.us:y", _INT)
        registry.refuse = lacks_export
        if not takes_offset:
            registry.passed_on = lambda path: re.sub(r"[?&]offset=[0-9]+", "", path)
        path = tmp_path / "other.ndjson"
        assert main(["backup", registry.url, "-o", str(path)]) == 0
    numbers = dict(sorted(open_file(path).read().state.versions))
    every = {"base": 1, "gone": 1, "holder": 1, "part": 3, ":.eu:x": 1, ":.us:y": 1}
    assert numbers.items() <= every.items()
    assert (numbers == every) == takes_offset


@pytest.mark.parametrize(
    ("refused", "status", "told"),
    [
        ("/subjects/holder/versions?", (404, {}), "holder is listed, but its versions are not"),
        ("/subjects/part/versions/1", (404, {}), "version 1 of part is listed, but not found"),
    ],
)
def test_the_backup_reports_a_listed_but_missing_version(
    refused: str,
    status: tuple[int, dict[str, str]],
    told: str,
    registry: Proxied,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A proxy that does not pass a path on, or a server that lists deleted versions and does not show them."""

    def refuse(path: str) -> tuple[int, dict[str, str]] | None:
        is_refused = path.startswith(refused) or path == refused.removesuffix("?")
        return lacks_export(path) or (status if is_refused else None)

    registry.refuse = refuse
    path = tmp_path / "other.ndjson"
    assert main(["backup", registry.url, "-o", str(path)]) == 3
    assert told in capsys.readouterr().err
    assert not path.exists()
    assert main(["backup", registry.url, "-o", str(path), "--partial"]) == 0
    assert lines_of(path)[0]["partial"] is True
    assert len(open_file(path).read().state.versions) == 5


@pytest.mark.parametrize("answered", [{"subject": "part"}, {"version": 7}])
def test_the_backup_rejects_an_answer_about_another_version(
    answered: dict[str, object], registry: Proxied, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    registry.refuse = lacks_export
    registry.altered = lambda path, body: (
        orjson.dumps(orjson.loads(body) | answered) if path.startswith("/subjects/base/versions/1") else body
    )
    assert main(["backup", registry.url, "-o", str(tmp_path / "other.ndjson")]) == 3
    other = {"subject": "base", "version": 1} | answered
    told = f"version 1 of base is answered with version {other['version']} of {other['subject']}"
    assert told in capsys.readouterr().err


def test_a_note_names_a_context_without_a_known_highest_id(registry: Proxied, tmp_path: Path) -> None:
    registry.refuse = lacks_export
    registry.ask("DELETE", "/subjects/:.eu:x")
    registry.ask("DELETE", "/subjects/:.eu:x?permanent=true")
    path = tmp_path / "other.ndjson"
    assert main(["backup", registry.url, "-o", str(path)]) == 0
    assert any("the highest id that it has given (.eu)" in note for note in open_file(path).read().notes)


@pytest.mark.parametrize(
    ("user", "code", "missing"),
    [
        ("most", 3, "hidden from the user, who needs READ and DESCRIBE_CONFIGS of every SUBJECT"),
        ("schemas", 3, "DESCRIBE and DESCRIBE_CONFIGS of the REGISTRY"),
        ("all", 0, ""),
        ("nobody", 3, "refuses GET /export"),
    ],
)
def test_a_backup_does_not_pretend_to_be_whole(
    user: str, code: int, missing: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    properties = {"magicbyte.storage": "memory:", **some_rights(tmp_path)}
    with proxied(create_app(RegistrySettings.from_properties(properties))) as made:
        for subject in ("base", "other"):
            made.ask("POST", f"/subjects/{subject}/versions", {"schema": _INT}, AS_ADMIN)
            made.ask("PUT", f"/config/{subject}", {"compatibility": "NONE"}, AS_ADMIN)
        path = tmp_path / "backup.ndjson"
        call = ["backup", made.url, "-o", str(path), "--property", f"basic.auth.user.info={user}:mbs_{user}"]
        assert main(call) == code
        told = capsys.readouterr().err
        assert missing in told
        assert path.exists() == (code == 0)
        if code == 0 or user == "nobody":
            return
        assert main([*call, "--partial"]) == 0
        manifest = lines_of(path)[0]
        assert (manifest["partial"], manifest["lacksContexts"]) == (True, True)


def test_a_backup_that_fails_leaves_the_old_file(registry: Proxied, tmp_path: Path) -> None:
    path = tmp_path / "registry.ndjson"
    path.write_bytes(b"old")
    path.chmod(0o640)
    registry.refuse = lambda _: (500, {})
    fast = ["--property", "retries.wait.ms=1"]
    assert main(["backup", registry.url, "-o", str(path), *fast]) == 3
    assert path.read_bytes() == b"old"
    assert sorted(entry.name for entry in tmp_path.iterdir() if entry.name.startswith("registry.nd")) == [path.name]
    registry.refuse = lambda _: None
    assert main(["backup", registry.url, "-o", str(path)]) == 0
    assert (path.stat().st_mode & 0o777, lines_of(path)[-1]["kind"]) == (0o640, "end")


def test_a_cut_file_is_no_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, copy = tmp_path / "cut.ndjson", tmp_path / "copy.ndjson"
    path.write_bytes(b'{"kind":"manifest","format":2}\n{"kind":"context","context":".","listed":true,"maxId":3}\n')
    assert main(["backup", str(path), "-o", str(copy)]) == 1
    assert "the closing line is missing" in capsys.readouterr().err
    assert not copy.exists()


@pytest.mark.parametrize(
    ("options", "subjects", "told"),
    [
        (["--no-deleted"], {"base", "holder", "part", ":.eu:x"}, "2 soft-deleted versions left out"),
        (["--context", "eu"], {":.eu:x"}, "the context .eu alone"),
        (["--context", "."], {"base", "holder", "gone", "part"}, "the context . alone"),
    ],
)
def test_a_part_of_a_registry(
    options: list[str],
    subjects: set[str],
    told: str,
    registry: Proxied,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "part.ndjson"
    assert main(["backup", registry.url, "-o", str(path), "--output", "json", *options]) == 0
    printed = capsys.readouterr()
    state = open_file(path).read().state
    assert {subject for subject, _ in state.versions} == subjects
    assert told in printed.err
    value = json.loads(printed.out)
    assert (value["file"], value["bytes"]) == (str(path), path.stat().st_size)
    assert value["counts"]["schemas"] == len(state.versions)


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["--context", "us"], 1, "has no context .us; it has ., .eu"),
        (["--format", "raw"], 1, "does not have the records of a log"),
        (["--format", "raw", "--no-deleted"], 2, "excludes"),
        (["--keep", "3"], 2, "--keep needs --every"),
        (["--every", "0s"], 2, "no time such as"),
        (["--every", "1w"], 2, "no time such as"),
        (["--metrics", ":9404"], 2, "needs --every"),
    ],
)
def test_wrong_wishes_are_refused(
    arguments: list[str],
    code: int,
    told: str,
    registry: Proxied,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "registry.ndjson"
    try:
        ended = main(["backup", registry.url, "-o", str(path), *arguments])
    except SystemExit as exit_:
        ended = int(str(exit_.code))
    assert ended == code
    assert told in capsys.readouterr().err
    assert not path.exists()


def test_a_file_that_cannot_be_written_is_named(registry: Proxied, tmp_path: Path) -> None:
    assert main(["backup", registry.url, "-o", str(tmp_path / "none" / "x")]) == 1
    assert main(["backup", registry.url, "-o", str(tmp_path)]) == 1
    assert main(["backup", registry.url, "-o", os.devnull]) == 1
    assert not list(tmp_path.glob("*.part"))
