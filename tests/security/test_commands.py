"""`magicbyte user`, `key` and `acl`: what they write and print, and what they never print."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from magicbyte.cli.main import main
from magicbyte.security.rights.authorizer import Authorizer
from magicbyte.security.sign_in.password_hash import hash_key
from magicbyte.security.sign_in.users import load_users
from magicbyte.testing import running_registry

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
        *(
            "user",
            "add",
            "alice",
            "--file",
            file,
            "--password-stdin",
            "--groups",
            "ops,dev",
            "--networks",
            "10.0.0.0/8",
        ),
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
    wanted = tmp_path / "wanted"
    wanted.write_text("# comments stay here\nallow User:bob READ SUBJECT LITERAL *\n")
    apply = ("acl", "apply", wanted, "--file", file)
    changes = (
        "+ allow User:bob READ SUBJECT LITERAL *\n"
        "- allow User:alice READ SUBJECT PREFIXED team.\n"
        "- allow User:alice WRITE SUBJECT PREFIXED team.\n"
        "- deny User:* ALL SUBJECT LITERAL team.sealed from 10.0.0.0/8\n"
    )
    before = file.read_text()
    assert run(*apply, "--dry-run") == (0, changes + "4 changes: nothing was changed (dry run)\n", "")
    assert file.read_text() == before
    assert run(*apply) == (0, changes + "4 changes\n", "")
    assert file.read_text() == "allow User:bob READ SUBJECT LITERAL *\n"
    assert run(*apply) == (0, "the rules are as the file says\n", "")
    file.write_text(before)
    remove = ("acl", "remove", "--file", file, "--allow", "User:alice", "--subject", "team.", "--prefixed")
    assert run(*remove, "--operation", "WRITE")[0] == 0
    code, _, err = run(*remove, "--operation", "WRITE")
    assert (code, err) == (
        1,
        f"magicbyte: {file} has no rule allow User:alice WRITE SUBJECT PREFIXED team.\n",
    )


URL = "--schema-registry-url"


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a registry with rules in its log, a super user and somebody without rights."""
    users = tmp_path_factory.mktemp("registry") / "users"
    users.write_text("".join(f"{name}:{hash_key('mbs_planted-' + name)}\n" for name in ("admin", "nobody")))
    users.chmod(0o600)
    properties = {
        "authentication.method": "BASIC",
        "magicbyte.users.file": str(users),
        "super.users": "User:admin",
        "magicbyte.authentication.failure.ms": "0",
    }
    with running_registry(properties=properties) as server:
        yield server.url


@pytest.fixture
def client(tmp_path: Path) -> Callable[[str], Path]:
    """Makes a client's properties file, with a password that stands in another file."""

    def client(name: str) -> Path:
        (tmp_path / "passwords").write_text(f"password=mbs_planted-{name}\n")
        path = tmp_path / f"{name}.properties"
        path.write_text(f"schema.registry.basic.auth.user.info={name}:${{file:{tmp_path}/passwords:password}}\n")
        return path

    return client


def test_rules_of_a_registry_are_added_asked_applied_and_removed(
    run: Run, registry: str, client: Callable[[str], Path], tmp_path: Path
):
    there = (URL, registry, "--config", client("admin"))
    assert run("acl", "list", *there) == (0, "", "")
    reading = ("--allow", "User:alice", "--operation", "READ,WRITE", "--subject", "team.", "--prefixed")
    assert run("acl", "add", *there, *reading) == (0, "", f"magicbyte: {registry} has 2 rules now\n")
    listed = "allow User:alice READ SUBJECT PREFIXED team.\nallow User:alice WRITE SUBJECT PREFIXED team.\n"
    assert run("acl", "list", *there) == (0, listed, "")
    check = ("acl", "check", *there, "--principal", "User:alice", "--operation", "DELETE,READ", "--subject", "team.x")
    assert run(*check) == (
        1,
        "DELETE denied: no rule allows it\nREAD allowed: allow User:alice READ SUBJECT PREFIXED team.\n",
        "",
    )
    wanted = tmp_path / "wanted"
    wanted.write_text("allow User:alice READ SUBJECT PREFIXED team.\ndeny User:* ALL SUBJECT LITERAL sealed\n")
    changes = "+ deny User:* ALL SUBJECT LITERAL sealed\n- allow User:alice WRITE SUBJECT PREFIXED team.\n"
    dry_run = run("acl", "apply", wanted, *there, "--dry-run")
    assert dry_run == (0, f"{changes}2 changes: nothing was changed (dry run)\n", "")
    assert run("acl", "list", *there)[1] == listed
    assert run("acl", "apply", wanted, *there) == (0, f"{changes}2 changes\n", "")
    assert run("acl", "apply", wanted, *there) == (0, "the rules are as the file says\n", "")
    code, _, err = run("acl", "remove", *there, *reading)
    assert (code, err) == (
        1,
        f"magicbyte: {registry} has no rule allow User:alice WRITE SUBJECT PREFIXED team.\n",
    )
    sealed = ("--deny", "User:*", "--operation", "ALL", "--subject", "sealed")
    assert run("acl", "remove", *there, *sealed) == (0, "", f"magicbyte: {registry} has 1 rules now\n")


def test_one_line_gives_the_registrys_refusal(
    run: Run, registry: str, client: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
):
    reading = ("--allow", "User:alice", "--operation", "READ", "--subject", "team.")
    wrong = ("--property", "basic.auth.user.info=admin:mbs_planted-wrong")
    assert run("acl", "list", URL, registry, *wrong) == (
        1,
        "",
        "magicbyte: Unauthorized (HTTP status code 401, SR code 401)\n",
    )
    there = (URL, registry, "--config", client("nobody"))
    denied = "User is denied operation {} on Registry: schema-registry (HTTP status code 403, SR code 40301)"
    assert run("acl", "list", *there) == (1, "", f"magicbyte: {denied.format('Describe')}\n")
    assert run("acl", "add", *there, *reading) == (1, "", f"magicbyte: {denied.format('Alter')}\n")
    monkeypatch.setenv("MAGICBYTE_BASIC_AUTH_USER_INFO", "admin:mbs_planted-admin")
    assert run("acl", "list", URL, registry)[0] == 0
    code, out, err = run("acl", "list", URL, "http://127.0.0.1:1", "--property", "max.retries=0")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "planted" not in err


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            ("list",),
            "name the rules: --file FILE, --schema-registry-url URL, or --config FILE with",
        ),
        (("list", URL, "htp://x"), "url: invalid URL 'htp://x': expected http://, https:// or mock://"),
        (("list", URL, "http://x", "--config", "/no"), "--config: /no cannot be read: No such file or"),
        (("list", URL, "http://x", "--property", "basic.auth"), "--property: must be name=value, not 'basic."),
        (("list", URL, "http://x", "--property", "timeout=${file:/no:k}"), "timeout: "),
        (("apply", "/no", URL, "http://x"), "/no cannot be read: No such file or directory"),
        (
            ("add", URL, "http://x", "--allow", "User:a", "--operation", "FLY", "--subject", "s"),
            "operation FLY means nothing on a SUBJECT; use READ, WRITE, DELETE, DESCRIBE, DESCRIBE_CONFIGS,",
        ),
    ],
)
def test_one_line_says_what_is_wrong_with_a_call(run: Run, arguments: tuple[str, ...], text: str):
    code, out, err = run("acl", *arguments)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(f"magicbyte: {text}")


def test_the_last_rule_and_the_last_user_can_be_removed(run: Run, tmp_path: Path):
    """No empty file is left, which servers take for one that was cut."""
    users, rules = tmp_path / "users", tmp_path / "rules"
    right = ("--allow", "User:a", "--operation", "READ", "--subject", "s")
    for _ in range(2):
        assert run("user", "add", "a", "--file", users, "--password-stdin", stdin="long enough password")[0] == 0
        assert run("user", "remove", "a", "--file", users)[0] == 0
        assert run("acl", "add", "--file", rules, *right)[0] == 0
        assert run("acl", "remove", "--file", rules, *right)[0] == 0
    assert load_users([users]) == {}
    assert Authorizer(frozenset(), rules).rules.all == frozenset()


@pytest.mark.parametrize(
    "command",
    ["acl list", "check", "register", "consume", "produce", "ids", "download", "set-compatibility", "plan", "apply"],
)
def test_every_command_with_a_registry_has_the_same_options_for_its_client(
    command: str, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit):
        main([*command.split(), "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "--config FILE" in shown
    assert "--property NAME=VALUE" in shown
    assert "such as basic.auth.user.info=${file:PATH:KEY} (MAGICBYTE_BASIC_AUTH_USER_INFO in the environment)" in shown
