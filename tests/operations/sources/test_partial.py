"""A registry that hides a part, and files that were made of it: refused with 3 unless `--partial`, and always said."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest

from magicbyte.cli.main import main
from magicbyte.operations.failures import Withheld
from magicbyte.operations.mirror.origin import Origin
from magicbyte.operations.mirror.target import Target
from magicbyte.operations.sources.files.closed_lines import closing_line
from magicbyte.operations.sources.opening import Properties, open_source
from magicbyte.security.sign_in.password_hash import hash_key
from magicbyte.testing import running_registry
from tests.operations.restore.made_registry import export_of

USERS = ("admin", "few", "all")
RULES = """allow User:few READ,DESCRIBE_CONFIGS,WRITE,ALTER_CONFIGS SUBJECT PREFIXED seen
allow User:few ALTER_CONFIGS REGISTRY LITERAL *
allow User:all READ,DESCRIBE_CONFIGS SUBJECT LITERAL *
allow User:all DESCRIBE,DESCRIBE_CONFIGS REGISTRY LITERAL *
"""
HIDDEN = "some subjects, or their settings, are hidden from the user"
OF_ALL = ("--property", "basic.auth.user.info=all:mbs_all")
TO_ALL = ("--to-property", "basic.auth.user.info=all:mbs_all")
OTHER_ALL = ("--other-property", "basic.auth.user.info=all:mbs_all")
AS_FEW = "basic.auth.user.info=few:mbs_few"


@dataclass(frozen=True)
class Guarded:
    """A registry with the subjects `seen` and `unseen`, and its exports. The user `few` may see only `seen`.

    Attributes:
        url: Its URL.
        few: What `few` exports.
        whole: What `all` exports.
    """

    url: str
    few: bytes
    whole: bytes

    @property
    def manifest(self) -> dict[str, Any]:
        """The manifest of what `few` exports."""
        value: dict[str, Any] = json.loads(self.few.splitlines()[0])
        return value


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    """A registry with access rules."""
    folder = tmp_path_factory.mktemp("guarded")
    users, rules = folder / "users", folder / "rules"
    users.write_text("".join(f"{name}:{hash_key('mbs_' + name)}\n" for name in USERS))
    users.chmod(0o600)
    rules.write_text(RULES)
    properties = {
        "authentication.method": "BASIC",
        "magicbyte.users.file": str(users),
        "magicbyte.acl.store": f"file:{rules}",
        "super.users": "User:admin",
    }
    with running_registry(properties=properties) as server:

        def ask(user: str, method: str, path: str, body: object = None) -> httpx.Response:
            return httpx.request(method, server.url + path, json=body, auth=(user, f"mbs_{user}")).raise_for_status()

        for subject in ("seen", "unseen"):
            ask("admin", "POST", f"/subjects/{subject}/versions", {"schema": '"int"'})
        ask("admin", "PUT", "/config/unseen", {"compatibility": "NONE"})
        yield Guarded(server.url, ask("few", "GET", "/export").content, ask("all", "GET", "/export").content)


@pytest.fixture
def few(guarded: Guarded, tmp_path: Path) -> Path:
    """The export of `few`, in a file."""
    path = tmp_path / "few.ndjson"
    path.write_bytes(guarded.few)
    return path


Calls = Callable[[Guarded, Path, Path], list[str]]
#: A registry or a file that lacks something, on each side of each command.
CALLS: dict[str, Calls] = {
    "restore of a URL": lambda at, _, folder: [
        "restore",
        at.url,
        "--to",
        f"sqlite:///{folder}/x",
        "--property",
        AS_FEW,
    ],
    "restore of a file": lambda _, file, folder: ["restore", str(file), "--to", f"sqlite:///{folder}/x"],
    "restore into a URL": lambda at, _, folder: [
        *("restore", str(folder / "seen.ndjson"), "--to", at.url, "--to-property", AS_FEW, "--dry-run")
    ],
    "verify of a URL": lambda at, file, _: ["verify", at.url, "--to", str(file), "--property", AS_FEW],
    "verify with a URL": lambda at, _, folder: [
        *("verify", str(folder / "seen.ndjson"), "--to", at.url, "--to-property", AS_FEW)
    ],
    "diff of A": lambda at, file, _: ["diff", at.url, str(file), "--property", AS_FEW],
    "diff of B": lambda at, _, folder: ["diff", str(folder / "seen.ndjson"), at.url, "--other-property", AS_FEW],
    "diff of a file": lambda _, file, folder: ["diff", str(file), str(folder / "seen.ndjson")],
    "fsck of a URL": lambda at, _, __: ["fsck", at.url, "--property", AS_FEW],
    "fsck of a file": lambda _, file, __: ["fsck", str(file)],
    "backup of a file": lambda _, file, folder: ["backup", str(file), "-o", str(folder / "again.ndjson")],
}


@pytest.mark.parametrize("name", CALLS)
def test_a_part_is_refused_and_accepted_by_name(
    name: str, guarded: Guarded, few: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    # A backup without hidden parts, of what `few` sees.
    lines = [line for line in map(json.loads, guarded.whole.splitlines()) if "unseen" not in line.get("subject", "")]
    whole = tmp_path / "hand.ndjson"
    whole.write_bytes(export_of(lines[1:-1]))
    assert main(["backup", str(whole), "-o", str(tmp_path / "seen.ndjson")]) == 0
    call = CALLS[name](guarded, few, tmp_path)
    before = sorted(tmp_path.iterdir())
    capfd.readouterr()
    assert main(call) == 3
    refused = capfd.readouterr()
    assert "does not show everything, and nothing was " in refused.err
    assert HIDDEN in refused.err
    assert "With --partial" in refused.err
    assert refused.out == ""
    assert sorted(tmp_path.iterdir()) == before
    assert main([*call, "--partial"]) in (0, 100)
    accepted = capfd.readouterr()
    assert HIDDEN in accepted.out + accepted.err


def test_an_export_with_all_rights_is_whole(guarded: Guarded, tmp_path: Path) -> None:
    path = tmp_path / "whole.ndjson"
    path.write_bytes(guarded.whole)
    with open_source(str(path), Properties()) as source:
        assert (source.read().notes, source.read().withheld) == ((), ())
    assert main(["restore", guarded.url, "--to", f"sqlite:///{tmp_path}/x", *OF_ALL]) == 0
    assert main(["verify", str(path), "--to", guarded.url, *TO_ALL]) == 0
    assert main(["diff", str(path), guarded.url, *OTHER_ALL]) == 0
    assert main(["fsck", guarded.url, *OF_ALL]) == 0


def test_an_export_says_in_its_manifest_that_subjects_are_hidden(guarded: Guarded) -> None:
    manifest = guarded.manifest
    assert (manifest["partial"], manifest["lacksContexts"], manifest["lacksSettings"]) == (True, True, True)
    # What is asked for is there as a whole.
    asked = httpx.get(f"{guarded.url}/export?subject=seen", auth=("few", "mbs_few"))
    assert "partial" not in json.loads(asked.content.splitlines()[0])
    assert asked.headers["magicbyte-complete"] == "false"
    hidden = httpx.get(f"{guarded.url}/export?subject=seen&subject=unseen", auth=("few", "mbs_few"))
    assert json.loads(hidden.content.splitlines()[0])["partial"] is True
    assert json.loads(httpx.get(f"{guarded.url}/export", auth=("all", "mbs_all")).content.splitlines()[0]).keys() == {
        *("kind", "format", "magicbyte", "offset", "logId")
    }


def test_a_backup_of_a_partial_file_is_also_partial(guarded: Guarded, few: Path, tmp_path: Path) -> None:
    again, third, key = tmp_path / "again.ndjson", tmp_path / "third.ndjson", tmp_path / "key"
    key.write_text("k" * 32)
    with open_source(str(few), Properties()) as source:
        withheld = source.read().withheld
    assert len(withheld) == 2
    assert main(["backup", str(few), "-o", str(again), "--partial"]) == 0
    assert main(["backup", str(again), "-o", str(third)]) == 3
    with open_source(str(again), Properties()) as source:
        assert (source.read().notes, source.read().withheld) == ((), withheld)
    assert main(["backup", str(again), "-o", str(third), "--partial", "--anonymize", str(key)]) == 0
    with open_source(str(third), Properties()) as source:
        assert source.read().withheld == ("what was hidden from the user who read the registry is missing",)
    manifest = json.loads(again.read_bytes().splitlines()[0])
    assert (manifest["partial"], manifest["lacksContexts"]) == (True, True)


@pytest.mark.parametrize(
    ("fields", "notes", "withheld"),
    [
        ({"format": 2}, 0, 0),
        ({"format": 2, "notes": ["a note"]}, 1, 0),
        ({"format": 2, "partial": True}, 0, 1),
        ({"format": 2, "lacksSettings": True}, 0, 1),
        ({"format": 2, "lacksContexts": True}, 0, 1),
        ({"format": 2, "lacksContexts": True, "lacksSettings": True, "partial": True}, 0, 2),
        ({"format": 2, "partial": True, "withheld": ["one", "two", "three"]}, 0, 3),
        ({"format": 2, "withheld": []}, 0, 0),
    ],
)
def test_a_manifest_names_the_missing_parts_of_a_file(
    fields: dict[str, Any], notes: int, withheld: int, tmp_path: Path
) -> None:
    path = tmp_path / "x.ndjson"
    body = json.dumps({"kind": "manifest", **fields}, separators=(",", ":")).encode() + b"\n"
    path.write_bytes(body + closing_line(1, sha256(body).hexdigest()))
    with open_source(str(path), Properties()) as source:
        reading = source.read()
    assert (len(reading.notes), len(reading.withheld)) == (notes, withheld)
    assert len(reading.remarks) == notes + withheld


def test_a_mirror_takes_no_part_for_the_whole(guarded: Guarded, few: Path) -> None:
    properties = {"basic.auth.user.info": "few:mbs_few"}
    with Origin(guarded.url, Properties(properties)) as source, pytest.raises(Withheld, match="looks deleted"):
        source.read()
    with Origin(str(few), Properties()) as source, pytest.raises(Withheld, match="looks deleted"):
        source.read()
    with Target(guarded.url, properties) as target, pytest.raises(Withheld, match="looks missing"):
        target.read()
    with Origin(guarded.url, Properties({"basic.auth.user.info": "all:mbs_all"})) as source:
        assert {subject for subject, _ in source.read().state.versions} == {"seen", "unseen"}


def test_a_mirror_of_a_part_ends_with_3(guarded: Guarded, few: Path, capfd: pytest.CaptureFixture[str]) -> None:
    call = ["mirror", "--from", guarded.url, "--to", guarded.url, "--once"]
    assert main([*call, "--from-property", AS_FEW, "--to-property", "basic.auth.user.info=admin:mbs_admin"]) == 3
    assert "does not show everything" in capfd.readouterr().err


def test_a_drill_of_a_part_has_a_difference(few: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with running_registry() as scratch:
        assert main(["dr", "drill", "--file", str(few), "--to", scratch.url]) == 100
    assert "does not show everything" in capfd.readouterr().out
