"""`magicbyte user`, `key` and `acl`: what they write and print, and what they never print."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from magicbyte.cli.main import main
from magicbyte.security.sign_in.users import load_users

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    def run(*arguments: object, stdin: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return run


def test_users_are_added_changed_and_removed(run: Run, tmp_path: Path):
    file = tmp_path / "users"
    password = "correct horse battery"
    added = run(
        *("user", "add", "alice", "--file", file, "--password-stdin", "--groups", "ops,dev", "--from", "10.0.0.0/8"),
        stdin=f"{password}\n",
    )
    assert added == (0, "", "")
    assert file.stat().st_mode & 0o777 == 0o600
    alice = load_users([file])["alice"]
    assert alice.hash.verify(password.encode())
    assert alice.groups == frozenset(("Group:ops", "Group:dev"))
    assert run("user", "verify", "alice", "--file", file, "--password-stdin", stdin=password)[0] == 0
    assert run("user", "verify", "alice", "--file", file, "--password-stdin", stdin="other")[0] == 1
    assert run("user", "passwd", "alice", "--file", file, "--password-stdin", "--weak", stdin="short")[0] == 0
    assert load_users([file])["alice"].hash.verify(b"short")
    assert run("user", "disable", "alice", "--file", file)[0] == 0
    assert load_users([file])["alice"].is_disabled
    assert run("user", "list", "--file", file) == (0, "alice groups=ops,dev from=10.0.0.0/8 disabled=true\n", "")
    assert run("user", "enable", "alice", "--file", file)[0] == 0
    assert not load_users([file])["alice"].is_disabled
    assert run("user", "remove", "alice", "--file", file)[0] == 0
    assert load_users([file]) == {}


@pytest.mark.parametrize(
    ("arguments", "stdin", "text"),
    [
        (("user", "add", "bob", "--password-stdin"), "short", "the password has fewer than 12 characters; --weak"),
        (("user", "add", "bob", "--password-stdin"), "", "there is no password"),
        (("user", "add", "bo:b", "--password-stdin"), "long enough password", "a name has no colon and no control"),
        (("user", "add", "carol", "--password-stdin"), "long enough password", "{file} has a user carol already"),
        (
            ("user", "add", "b", "--password-stdin", "--expires", "soon"),
            "long enough password",
            "b: expires is no time",
        ),
        (("user", "remove", "bob"), "", "{file} has no user bob"),
        (("key", "create", "--principal", "ci"), "", ": the principal must be User: and a name"),
    ],
)
def test_a_change_that_can_not_be_leaves_the_file_as_it_is(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], stdin: str, text: str
):
    file = tmp_path / "users"
    file.write_text("# kept\ncarol:$mb-key$v=1$" + "A" * 43 + "\n")
    file.chmod(0o600)
    before = file.read_text()
    code, out, err = run(*arguments, "--file", file, stdin=stdin)
    assert (code, out) == (1, "")
    assert text.format(file=file) in err
    assert file.read_text() == before


def test_a_key_is_printed_once(run: Run, tmp_path: Path):
    file = tmp_path / "users"
    code, out, _ = run("key", "create", "--principal", "User:ci", "--expires", "90d", "--file", file)
    printed = re.fullmatch(r"id:     (mbk_[a-z2-7]{16})\nsecret: (mbs_[A-Za-z0-9_-]{43})\n", out)
    assert code == 0
    assert printed is not None
    key = load_users([file])[printed[1]]
    assert (key.principal, key.hash.verify(printed[2].encode())) == ("User:ci", True)
    assert printed[2] not in file.read_text()
    listed = run("key", "list", "--file", file)[1]
    assert re.fullmatch(rf"{printed[1]} principal=User:ci expires=\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\dZ\n", listed)
    assert run("key", "remove", printed[1], "--file", file)[0] == 0
    assert run("key", "list", "--file", file) == (0, "", "")


def test_a_property_file_is_taken_over(run: Run, tmp_path: Path):
    source, file = tmp_path / "password-file", tmp_path / "users"
    source.write_text("alice: wonderland,admin,user\nbob: OBF:1v2j1uum1xtv1zej1zer1xtn1uvk1v1v\ncarol: MD5:abc\n")
    code, out, err = run("user", "import", source, "--file", file)
    assert (code, out) == (1, "")
    assert err == ("magicbyte: no password is known of carol, only a hash; set new ones with `magicbyte user add`\n")
    users = load_users([file])
    assert users["alice"].hash.verify(b"wonderland")
    assert users["alice"].groups == frozenset(("Group:admin", "Group:user"))
    assert users["bob"].hash.verify(b"password")
    assert "wonderland" not in file.read_text()


def test_rules_are_added_asked_and_removed(run: Run, tmp_path: Path):
    file = tmp_path / "rules"
    add = ("acl", "add", "--file", file)
    assert run(*add, "--allow", "User:alice", "--operation", "READ,WRITE", "--subject", "team.", "--prefixed")[0] == 0
    assert (
        run(*add, "--deny", "User:*", "--operation", "ALL", "--subject", "team.sealed", "--host", "10.0.0.0/8")[0] == 0
    )
    assert run("acl", "list", "--file", file)[1] == (
        "allow User:alice READ SUBJECT PREFIXED team.\n"
        "allow User:alice WRITE SUBJECT PREFIXED team.\n"
        "deny User:* ALL SUBJECT LITERAL team.sealed from 10.0.0.0/8\n"
    )
    check = ("acl", "check", "--file", file, "--principal", "User:alice")
    assert run(*check, "--operation", "DESCRIBE", "--subject", "team.a") == (
        0,
        "DESCRIBE allowed: allow User:alice READ SUBJECT PREFIXED team.\n",
        "",
    )
    assert run(*check, "--operation", "READ,DELETE", "--subject", "team.sealed", "--host", "10.1.1.1") == (
        1,
        "READ denied: deny User:* ALL SUBJECT LITERAL team.sealed from 10.0.0.0/8\n"
        "DELETE denied: deny User:* ALL SUBJECT LITERAL team.sealed from 10.0.0.0/8\n",
        "",
    )
    assert run(*check, "--operation", "READ", "--topic", "team.a")[1] == "READ denied: no rule allows it\n"
    remove = ("acl", "remove", "--file", file, "--allow", "User:alice", "--subject", "team.", "--prefixed")
    assert run(*remove, "--operation", "WRITE")[0] == 0
    code, _, err = run(*remove, "--operation", "WRITE")
    assert (code, err) == (
        1,
        f"magicbyte: {file} has no rule allow User:alice WRITE SUBJECT PREFIXED team.\n",
    )
