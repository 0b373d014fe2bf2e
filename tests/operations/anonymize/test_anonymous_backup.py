"""`magicbyte backup --anonymize`: a file that restores, in which no name of the original is left."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from magicbyte.cli.main import main
from magicbyte.operations.sources.opening import Properties, open_file, open_source
from tests.operations.anonymize.test_anonymize import ANONYMOUS, KEY, STATE
from tests.operations.restore.made_registry import export_of


@pytest.fixture
def original(tmp_path: Path) -> Path:
    """A backup whose folder, file and state have names with `secret`."""
    folder = tmp_path / "secret60"
    folder.mkdir()
    path = folder / "secret61.ndjson"
    path.write_bytes(export_of(list(STATE.lines())))
    (tmp_path / "key").write_bytes(KEY + b"\n")
    return path


def test_an_anonymous_backup_restores_and_has_no_name_of_the_original(original: Path, tmp_path: Path) -> None:
    anonymous, target = tmp_path / "anonymous.ndjson", f"sqlite:///{tmp_path}/target.db"
    assert main(["backup", str(original), "-o", str(anonymous), "--anonymize", str(tmp_path / "key")]) == 0
    content = anonymous.read_bytes()
    assert b"secret" not in content.lower()
    assert KEY not in content
    manifest = orjson.loads(content.splitlines()[0])
    assert (manifest["source"], manifest["clusterIds"]) == ("anonymous", {})
    assert manifest["notes"][-1] == "1 version with a text that does not parse: it became a token"
    assert open_file(anonymous).read().state == ANONYMOUS
    assert main(["restore", str(anonymous), "--to", target]) == 0
    with open_source(target, Properties()) as log:
        assert log.read().state == ANONYMOUS


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        (["--anonymize", "none"], 1, "there is no key file none; make one with: openssl rand -hex 32 > none"),
        (["--format", "raw", "--anonymize", "key"], 2, "it excludes --anonymize"),
        (["--every", "1h", "--anonymize", "none"], 1, "there is no key file none"),
    ],
)
def test_an_anonymous_backup_writes_no_original_names(
    options: list[str],
    code: int,
    told: str,
    original: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(original.parent)
    try:
        ended = main(["backup", original.name, "-o", "anonymous.ndjson", *options])
    except SystemExit as exit_:
        ended = int(str(exit_.code))
    assert (ended, list(original.parent.iterdir())) == (code, [original])
    assert told in capsys.readouterr().err


def test_a_context_is_named_as_in_the_original(original: Path, tmp_path: Path) -> None:
    anonymous = tmp_path / "anonymous.ndjson"
    options = ["--anonymize", str(tmp_path / "key"), "--context", "secret50"]
    assert main(["backup", str(original), "-o", str(anonymous), *options]) == 0
    assert b"secret" not in anonymous.read_bytes()
    assert [version.schema_id for version in open_file(anonymous).read().state.versions.values()] == [3]
