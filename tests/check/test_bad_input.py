"""Whatever is wrong is told with file, line and column, and never as a traceback."""

from __future__ import annotations

import socket
from typing import Any

import pytest

RECORD = '{{"type": "record", "name": "{name}", "fields": [\n  {{"name": "f", "type": "{type}"}}\n]}}\n'


def record(name: str, field_type: str = "int") -> str:
    return RECORD.format(name=name, type=field_type)


def proto(name: str, *imports: str, body: str = "") -> str:
    lines = "".join(f'import "{path}";\n' for path in imports)
    return f'syntax = "proto3";\n{lines}message {name} {{\n{body}}}\n'


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        # a syntax error in the middle of a file
        ({"a.avsc": '{"type": "record", "name": "A",\n "fields": [\n  {"name" "f"}\n]}'}, "a.avsc:3:11 INVALID_SCHEMA"),
        ({"a.schema.json": '{\n  "type": "object",,\n}'}, "a.schema.json:2:20 INVALID_SCHEMA"),
        ({"a.proto": 'syntax = "proto3";\nmessage A {\n  int32 = 1;\n}\n'}, "a.proto:3:9 INVALID_SCHEMA"),
        # what only the parser of the type refuses
        ({"a.avsc": record("A", "int").replace('"f"', '"0f"')}, "a.avsc:2:3 INVALID_SCHEMA"),
        ({"a.schema.json": '{\n  "type": "objekt"\n}'}, "a.schema.json:2:3 INVALID_SCHEMA"),
        ({"a.proto": proto("A", body="  int32 a = 1;\n  int32 b = 1;\n")}, "a.proto:4:3 INVALID_SCHEMA"),
        ({"a.avsc": ""}, "a.avsc:1:1 INVALID_SCHEMA"),
        # a dangling reference
        ({"a.avsc": record("A", "shop.Nowhere")}, "a.avsc:2:17 DANGLING_REFERENCE"),
        ({"a.schema.json": '{\n "items": {"$ref": "no.json#/x"}\n}'}, "a.schema.json:2:12 DANGLING_REFERENCE"),
        ({"a.proto": proto("A", "no/such.proto", body="  such.Such s = 1;\n")}, "a.proto:2:1 DANGLING_REFERENCE"),
        # a cyclic one
        ({"a.avsc": record("A", "B"), "b.avsc": record("B", "A")}, "b.avsc:2:17 CYCLIC_REFERENCE"),
        (
            {"a.schema.json": '{"items": {"$ref": "b.schema.json"}}', "b.schema.json": '{"$ref": "a.schema.json"}'},
            "b.schema.json:1:2 CYCLIC_REFERENCE",
        ),
        ({"a.proto": proto("A", "b.proto"), "b.proto": proto("B", "a.proto")}, "b.proto:2:1 CYCLIC_REFERENCE"),
        ({"a.proto": proto("A", "a.proto")}, "a.proto:2:1 CYCLIC_REFERENCE"),
        # two files for one subject
        ({"x/a.avsc": record("A"), "y/a.avsc": record("B")}, "y/a.avsc:1:1 DUPLICATE_SUBJECT"),
        ({"a.avsc": record("A"), "a.proto": proto("A")}, "a.proto:1:1 DUPLICATE_SUBJECT"),
        # what refers to a broken file is not told a second time
        ({"a.avsc": "{\n{", "b.avsc": '"int"', "c.proto": proto("C")}, "a.avsc:2:1 INVALID_SCHEMA"),
        (
            {"a.proto": proto("A", "b.proto"), "b.proto": 'syntax = "proto3";\nmessage B {\n'},
            "b.proto:3:1 INVALID_SCHEMA",
        ),
    ],
)
def test_a_bad_schema_is_a_finding(project: Any, files: dict[str, str], expected: str):
    for path, text in files.items():
        project.write(path, text)
    assert project.places("--against", "none") == (100, [expected])


def test_a_binary_file_is_a_finding(project: Any):
    (project.folder / "a.avsc").write_bytes(b'{"type":\n  "str\xff"}')
    assert project.places("--against", "none") == (100, ["a.avsc:2:7 INVALID_SCHEMA"])


@pytest.mark.parametrize(
    ("config", "arguments", "told"),
    [
        ("", ["nowhere.avsc"], "nowhere.avsc:1:1: there is no such file or folder"),
        ("", ["--against", "git:no-such-branch"], "--against:1:5: git has no ref 'no-such-branch'"),
        ('# ours\nagainst = "git:gone"\n', [], "magicbyte.toml:2:11: against: git has no ref 'gone'"),
        ("", ["--against", "no-such-folder"], "--against:1:1: there is no file or folder 'no-such-folder'"),
        ("", ["--against", "lock:no.lock.json"], "no.lock.json:1:1: cannot be read: No such file or directory"),
        ("", ["--against", "bad.lock.json"], "bad.lock.json:1:12: Expecting value"),
        ("", ["--config", "no.toml"], "no.toml:1:1: cannot be read: No such file or directory"),
        ("", ["--compatibility", "SIDEWAYS"], "--compatibility SIDEWAYS: there are NONE, BACKWARD"),
        ("files = [\n", [], "magicbyte.toml:2:1: Invalid value"),
        ("files = " + "[" * 10_000, [], "magicbyte.toml:1:1: is nested too deeply"),
        ("files = " + "1" * 5_000, [], "magicbyte.toml:1:1: has a number with too many digits"),
        ('lock = "no.lock.json"', [], "magicbyte.toml:1:8: lock: there is no lock file 'no.lock.json'"),
        ('[[subjects]]\nfile = "gone.avsc"', [], "magicbyte.toml:2:8: subjects[0].file: there is no file 'gone.avsc'"),
        ('[[subjects]]\nsubject = "a"', [], "magicbyte.toml:2:1: subjects[0].file: is missing"),
        ('compatibility = "UP"', [], "magicbyte.toml:1:17: compatibility: must be NONE or BACKWARD or "),
        ("compatability = 1", [], "magicbyte.toml:1:1: compatability: no such setting; did you mean compatibility?\n"),
        ("exclude = 1", [], "magicbyte.toml:1:11: exclude: must be a pattern, or a list, not 1\n"),
        (
            '[[allow]]\nrule = "R"\nreason = "r"',
            [],
            "magicbyte.toml:2:1: allow[0].until: is missing: The last day on which the declaration is valid.",
        ),
        (
            '[[allow]]\nrule = "R"\nreason = "r"\nuntil = "soon"',
            [],
            "magicbyte.toml:4:9: allow[0].until: must be a day such as 2030-12-31, not 'soon'\n",
        ),
        (
            '[lint]\nrules = ["nams"]',
            [],
            "magicbyte.toml:2:10: lint.rules[0]: must be docs or names or defaults or reserved, not 'nams';"
            " did you mean names?\n",
        ),
        (
            '[lint]\nseverity = "error"\nrule = ["docs"]',
            [],
            "magicbyte.toml:3:1: lint.rule: no such setting; did you mean",
        ),
        (
            '[[subjects]]\nfile = "a.avsc"\n[[subjects]]\nfile = "b.avsc" # file\ntype = "avro"',
            [],
            "magicbyte.toml:5:8: subjects[1].type: must be AVRO or PROTOBUF or JSON, not 'avro'; did you mean AVRO?\n",
        ),
        (
            '[[subjects]]\nfile = "a.avsc"\nreferences = [{name = "x", version = 0, file = "b"}]',
            [],
            "magicbyte.toml:3:38: subjects[0].references[0].version: must be a number from 1, or -1 for the latest\n",
        ),
        (
            '[[subjects]]\nfiles = "*"\nsubject = "{x}"',
            [],
            "magicbyte.toml:3:11: subjects[0].subject: may have {stem}, {folder} and {path} in it",
        ),
        ("", ["--format", "json=no/such/folder/x"], "no/such/folder/x cannot be written: No such file or directory"),
    ],
)
def test_a_mistake_of_the_user_is_a_failure(project: Any, config: str, arguments: list[str], told: str):
    project.write("a.avsc", '"int"')
    project.write("bad.lock.json", '{"format": 1,}'.replace("1,", ""))
    if config:
        project.write("magicbyte.toml", config)
    project.commit()
    code, _, err = project.run("check", *arguments)
    assert code == 1
    assert err.startswith(f"magicbyte: {told}")
    assert err.count("\n") == 1


def test_check_reports_all_wrong_settings_at_once(project: Any):
    project.write("pyproject.toml", '[tool.other]\nlock = 1\n\n[tool.magicbyte]\nlok = "x"\nstrict = "yes"\n')
    project.commit()
    code, _, err = project.run("check")
    assert (code, err.splitlines()) == (
        1,
        [
            "magicbyte: pyproject.toml:5:1: lok: no such setting; did you mean lock?",
            "pyproject.toml:6:10: strict: must be true or false, not 'yes'",
        ],
    )


def test_every_interpreter_reports_the_same_fault_of_a_lock_file(project: Any):
    project.write("bad.lock.json", '{\n  "format": 1,\n}')
    code, _, err = project.run("check", "--against", "lock:bad.lock.json")
    assert (code, err) == (
        1,
        "magicbyte: bad.lock.json:3:1: Expecting property name enclosed in double quotes\n",
    )


def test_a_check_without_a_baseline_is_a_failure(project: Any):
    project.write("a.avsc", '"int"')
    code, out, err = project.run("check")
    assert (code, out) == (1, "")
    assert err == (
        f"magicbyte: there is nothing to compare with: {project.folder} has none of the git refs origin/HEAD,"
        " origin/main, main, origin/master, master; fetch the main branch with its history (`fetch-depth: 0` of"
        " actions/checkout), name another baseline with --against, or only read the schemas with --against none\n"
    )
    assert project.run("check", "--against", "git:main")[0] == 1
    code, out, _ = project.run("check", "--against", "none")
    assert (code, "note: nothing was compared: schemas were only read\n" in out) == (0, True)


def shallow_clone(project: Any, monkeypatch: pytest.MonkeyPatch, *options: str) -> None:
    """Go on in a clone of the project with a part of its history."""
    clone = project.folder.parent / "clone"
    project.git("clone", "-q", *options, f"file://{project.folder}", str(clone))
    project.folder = clone
    monkeypatch.chdir(clone)


def test_a_shallow_clone_of_a_branch_does_not_pass(project: Any, monkeypatch: pytest.MonkeyPatch):
    project.write("a.avsc", '"int"')
    project.commit()
    project.git("checkout", "-q", "-b", "work")
    project.write("a.avsc", '"string"')
    project.commit()
    assert project.run("check")[0] == 100
    project.git("checkout", "-q", "main")
    shallow_clone(project, monkeypatch, "--depth", "1", "--branch", "work")
    code, out, err = project.run("check")
    assert (code, out) == (1, "")
    assert "`fetch-depth: 0`" in err


def test_check_reports_that_a_clean_main_branch_has_no_changes(project: Any, monkeypatch: pytest.MonkeyPatch):
    project.write("a.avsc", '"int"')
    project.commit()
    shallow_clone(project, monkeypatch, "--depth", "1")
    note = "note: HEAD is at origin/HEAD and no file differs from it: there are no changes to compare\n"
    code, out, _ = project.run("check")
    assert (code, note in out) == (0, True)
    project.write("a.avsc", '"string"')
    code, out, _ = project.run("check")
    assert (code, note in out) == (100, False)


def test_all_versions_need_all_of_the_history(project: Any, monkeypatch: pytest.MonkeyPatch):
    for text in ('"int"', '"long"', '"double"'):
        project.write("a.avsc", text)
        project.commit()
    shallow_clone(project, monkeypatch, "--depth", "2")
    project.write("a.avsc", '["double", "long"]')
    assert project.places() == (0, [])
    code, out, err = project.run("check", "--compatibility", "BACKWARD_TRANSITIVE")
    assert (code, out) == (1, "")
    assert err == (
        "magicbyte: a.avsc:1:1: its level compares with all versions, but the git history is shallow: fetch all of it"
        " (`fetch-depth: 0` of actions/checkout, or `git fetch --unshallow`)\n"
    )
    project.git("fetch", "-q", "--unshallow")
    assert project.places("--compatibility", "BACKWARD_TRANSITIVE") == (0, [])


def test_check_names_a_missing_file(project: Any):
    for name in ("a", "b", "c", "d"):
        project.write(f"{name}.avsc", record(name.upper()))
    project.commit()
    base = project.git("rev-parse", "--short=7", "HEAD").strip()
    project.git("checkout", "-q", "-b", "work")
    project.git("mv", "a.avsc", "other.avsc")
    (project.folder / "moved").mkdir()
    project.git("mv", "b.avsc", "moved/b.avsc")
    project.git("rm", "-q", "c.avsc")
    project.commit()
    code, out, _ = project.run("check")
    notes = [line for line in out.splitlines() if line.startswith("note: ")]
    assert (code, notes) == (
        0,
        [
            f"note: {name}.avsc in main ({base}) is gone, and no other file has its subject {name}: nothing is compared"
            " with it"
            for name in ("a", "c")
        ],
    )


def test_unrelated_histories_are_a_failure(project: Any):
    project.write("a.avsc", '"int"')
    project.commit()
    project.git("checkout", "-q", "--orphan", "other")
    project.commit("another beginning")
    code, _, err = project.run("check", "--against", "git:main")
    assert (code, "share no commit" in err) == (1, True)


def test_a_wrong_call_exits_with_2(project: Any):
    for arguments in (["--format", "xml"], ["--no-such-option"]):
        with pytest.raises(SystemExit) as stopped:
            project.run("check", *arguments)
        assert stopped.value.code == 2


def test_no_network_is_used_unless_a_registry_is_named(project: Any, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object) -> None:
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    project.write("magicbyte.toml", 'registry = "http://127.0.0.1:9"')
    project.write("a.avsc", '"int"')
    project.write("b.schema.json", '{"$ref": "http://example.com/schema.json"}')
    project.commit()
    assert project.places() == (100, ["b.schema.json:1:2 DANGLING_REFERENCE"])


def test_a_registry_that_does_not_answer_is_a_failure(project: Any):
    project.write("a.avsc", '"int"')
    code, _, err = project.run("check", "--against", "http://127.0.0.1:9")
    assert code == 1
    assert err.startswith("magicbyte: schema registry unavailable")


@pytest.mark.parametrize("baseline", ["none", "other"])
@pytest.mark.parametrize(
    ("target", "problem"),
    [("/dev/zero", "is a link to a file outside of"), ("../secret.avsc", "is a link to a file outside of")],
)
def test_links_out_of_the_project_are_not_followed(project: Any, baseline: str, target: str, problem: str):
    (project.folder.parent / "secret.avsc").write_text('"a secret"')
    other = project.folder.parent / "other"
    other.mkdir()
    project.write("a.avsc", '"int"')
    folder = project.folder if baseline == "none" else other
    (folder / "b.avsc").symlink_to(target)
    code, out, err = project.run("check", "--against", "none" if baseline == "none" else str(other))
    assert code == 1
    assert err.startswith(f"magicbyte: b.avsc:1:1: cannot be read: {problem} ")
    assert "a secret" not in out + err


@pytest.mark.parametrize(
    ("named", "problem"),
    [((), "cannot be read: Too many levels of symbolic links"), (("a.avsc",), "there is no such file or folder")],
)
def test_a_link_to_itself_is_a_failure(project: Any, named: tuple[str, ...], problem: str):
    (project.folder / "a.avsc").symlink_to("a.avsc")
    code, _, err = project.run("check", *named, "--against", "none")
    assert (code, err) == (1, f"magicbyte: a.avsc:1:1: {problem}\n")


def test_a_schema_of_more_than_16_mib_is_refused(project: Any):
    (project.folder / "a.avsc").write_bytes(b" " * (16 * 1024 * 1024) + b'"int"')
    code, _, err = project.run("check", "--against", "none")
    assert (code, err) == (1, "magicbyte: a.avsc:1:1: cannot be read: has more than 16,777,216 bytes\n")
