"""Files that are written as a whole: users, rules, keys."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from magicbyte.cli.security.rule_stores import FileStore
from magicbyte.kit.failure import Failure
from magicbyte.kit.whole_file import write_whole
from magicbyte.security.rights.rule_file import parse_line
from magicbyte.security.sign_in.edit_users import Line, changing
from magicbyte.security.sign_in.password_hash import hash_key
from magicbyte.security.tls.authority import Authority


def mode_of(path: Path) -> int:
    return path.stat().st_mode & 0o777


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.mark.parametrize(
    ("before", "mode", "after"), [(0o640, None, 0o640), (0o644, 0o600, 0o600), (0o600, None, 0o600)]
)
def test_the_new_file_has_the_mode_that_is_asked_for_or_that_of_the_old_one(
    tmp_path: Path, before: int, mode: int | None, after: int
):
    file = tmp_path / "file"
    file.write_text("old")
    file.chmod(before)
    write_whole(file, b"new", mode=mode)
    assert (file.read_text(), mode_of(file), names_in(tmp_path)) == ("new", after, ["file"])


def test_a_new_file_has_the_mode_of_the_umask(tmp_path: Path):
    umask = os.umask(0o027)
    try:
        write_whole(tmp_path / "file", b"new")
    finally:
        os.umask(umask)
    assert mode_of(tmp_path / "file") == 0o640


def add_user(path: Path) -> None:
    with changing(path) as users:
        users.add(Line("alice", hash_key("mbs_alice"), {}))


def add_rule(path: Path) -> None:
    FileStore(path).add(frozenset(parse_line("allow User:a READ SUBJECT LITERAL x")))


def write_key(path: Path) -> None:
    Authority().root.write(path)


@pytest.mark.parametrize("write", [add_user, add_rule, write_key])
def test_a_failed_write_leaves_only_the_old_file(
    tmp_path: Path, write: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
):
    file = tmp_path / "file"
    write(file)
    before = file.read_bytes()

    def full_disk(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    if write is add_user:
        with changing(file) as users:
            users.remove("alice")
        before = file.read_bytes()
    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises((Failure, OSError), match="No space left on device"):
        write(file)
    assert (file.read_bytes(), names_in(tmp_path)) == (before, ["file"])


@pytest.mark.parametrize(("write", "mode"), [(add_user, 0o600), (write_key, 0o600)])
def test_only_the_owner_may_read_users_and_keys(tmp_path: Path, write: Callable[[Path], None], mode: int):
    write(tmp_path / "file")
    assert mode_of(tmp_path / "file") == mode


def test_a_change_of_rules_leaves_their_file_readable_to_the_server(tmp_path: Path):
    file = tmp_path / "rules"
    file.write_text("")
    file.chmod(0o644)
    add_rule(file)
    assert (file.read_text(), mode_of(file)) == ("allow User:a READ SUBJECT LITERAL x\n", 0o644)
