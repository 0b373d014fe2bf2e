"""Every form of the report, of a project with an error, a warning and a declared break."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import jsonschema
import pytest

SARIF = json.loads((Path(__file__).parent / "sarif.schema.json").read_text())
OLD = '{{"type": "record", "name": "{name}", "fields": [\n  {{"name": "f", "type": "string"}}\n]}}\n'


@pytest.fixture
def broken(project: Any) -> Any:
    project.write(
        "magicbyte.toml",
        '[lint]\nrules = ["names"]\nseverity = "warning"\n[[allow]]\nsubject = "meant"\nrule = "TYPE_MISMATCH"\n'
        'until = 2999-12-31\nreason = "nobody <reads> it"\n',
    )
    project.write("a, b/odd 100%.avsc", OLD.format(name="n.Odd"))
    project.write("meant.avsc", OLD.format(name="n.Meant"))
    project.write("fine.avsc", OLD.format(name="lower"))
    project.commit()
    project.edit("a, b/odd 100%.avsc", "string", "int")
    project.edit("meant.avsc", "string", "int")
    return project


def test_text(broken: Any):
    code, out, _ = broken.run("check")
    assert code == 100
    assert out.startswith(
        "a, b/odd 100%.avsc:2:17: TYPE_MISMATCH (odd 100%): The new schema has INT where the old schema has STRING.\n"
        "    against: main ("
    )
    assert "\nfine.avsc:1:1: warning: LINT_NAMES (fine): The record 'lower' is not in PascalCase.\n" in out
    assert "\nmeant.avsc:2:17: declared: TYPE_MISMATCH: nobody <reads> it (until 2999-12-31)\n" in out
    assert out.endswith("\n3 schemas checked, 1 finding, 2 warnings, 1 declared break\n")


def test_json(broken: Any):
    report = json.loads(broken.run("check", "--format", "json")[1])
    assert [item["file"] for item in report["checked"]] == ["a, b/odd 100%.avsc", "fine.avsc", "meant.avsc"]
    first = report["findings"][0]
    assert (first["rule"], first["line"], first["column"], first["old"]) == (
        "TYPE_MISMATCH",
        2,
        17,
        {"line": 2, "column": 17},
    )
    assert first["remedy"].startswith("Keep STRING")
    assert [row["declared"] for row in report["declared"]] == ["nobody <reads> it (until 2999-12-31)"]


def test_junit(broken: Any):
    suites = ET.fromstring(broken.run("check", "--format", "junit")[1])
    assert suites.attrib == {"tests": "3", "failures": "1"}
    (suite,) = suites
    failures = {case.get("name"): [failure.get("type") for failure in case.iter("failure")] for case in suite}
    assert failures == {"a, b/odd 100%.avsc": ["TYPE_MISMATCH"], "fine.avsc": [], "meant.avsc": []}


def test_sarif_is_valid(broken: Any):
    report = json.loads(broken.run("check", "--format", "sarif")[1])
    jsonschema.Draft7Validator(SARIF, format_checker=jsonschema.FormatChecker()).validate(report)
    run = report["runs"][0]
    assert [result["level"] for result in run["results"]] == ["error", "warning", "warning", "error"]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "a%2C%20b/odd%20100%25.avsc"
    assert place["region"] == {"startLine": 2, "startColumn": 17}
    assert run["results"][3]["suppressions"] == [
        {"kind": "external", "justification": "nobody <reads> it (until 2999-12-31)"}
    ]


def test_github_annotations_escape_special_characters(broken: Any):
    lines = broken.run("check", "--format", "github")[1].splitlines()
    assert lines[0].startswith(
        "::error file=a%2C b/odd 100%25.avsc,line=2,col=17,title=TYPE_MISMATCH (odd 100%25)::The new schema has INT"
    )
    assert [line.partition(" ")[0] for line in lines] == ["::error", "::warning", "::warning"]


def test_gitlab_fingerprints_stay_while_lines_move(broken: Any):
    issues = json.loads(broken.run("check", "--format", "gitlab")[1])
    assert [(issue["severity"], issue["location"]["path"]) for issue in issues] == [
        ("major", "a, b/odd 100%.avsc"),
        ("minor", "fine.avsc"),
        ("minor", "fine.avsc"),
    ]
    assert len({issue["fingerprint"] for issue in issues}) == 3
    broken.edit("a, b/odd 100%.avsc", '{"type": "record"', '\n\n{"type": "record"')
    moved = json.loads(broken.run("check", "--format", "gitlab")[1])
    assert moved[0]["location"]["lines"] == {"begin": 4}
    assert moved[0]["fingerprint"] == issues[0]["fingerprint"]


def test_several_forms_at_once(broken: Any):
    code, out, _ = broken.run("check", "--format", "text", "--format", "sarif=a.sarif", "--format", "junit=a.xml")
    assert code == 100
    assert out.endswith("1 declared break\n")
    assert json.loads((broken.folder / "a.sarif").read_text())["version"] == "2.1.0"
    assert ET.parse(broken.folder / "a.xml").getroot().get("failures") == "1"


def test_warnings_leave_the_exit_code(broken: Any):
    assert broken.run("check", "fine.avsc")[0] == 0


#: Names that were workflow commands: of GitHub at the beginning of a line, of older runners and Azure anywhere.
HOSTILE = (
    "::stop-commands::x.avsc",
    "a\n::error title=forged::y.avsc",
    "b\r::add-mask::z.avsc",
    "c##[stop-commands]d.avsc",
    "e##vso[task.complete]f.avsc",
    "g\x1b[2Jh.avsc",
)


@pytest.mark.parametrize("form", ["text", "json", "junit", "sarif", "github", "github-markdown", "gitlab"])
def test_no_name_is_a_command_of_the_runner(project: Any, form: str):
    for name in HOSTILE:
        project.write(name, OLD.format(name="n.Odd"))
    project.commit()
    for name in HOSTILE:
        project.edit(name, "string", "int")
    project.write("message\n::warning::forged.avsc", "{")
    code, out, errors = project.run("check", "--format", form)
    assert code == 100
    for line in (out + errors).replace("\r", "\n").split("\n"):
        command = line.strip().startswith("::")
        assert not command or (form == "github" and line.startswith(("::error file=", "::warning file="))), line
        assert "##[" not in line or line.startswith("::error file="), line
        assert "##vso[" not in line or line.startswith("::error file="), line
        assert not [sign for sign in line if sign < " " or sign == "\x7f"], line
    if form in ("json", "sarif", "gitlab"):
        json.loads(out)
    if form == "json":
        assert {item["file"] for item in json.loads(out)["checked"]} == set(HOSTILE)


def test_no_message_is_a_command_of_the_runner(project: Any):
    project.write("magicbyte.toml", '[[subject]]\n"x\\n::stop-commands::t" = 1\n')
    code, out, errors = project.run("check", "--against", "git:x\n::stop-commands::t")
    assert (code, out) == (1, "")
    assert not [line for line in errors.split("\n") if line.strip().startswith("::")]
