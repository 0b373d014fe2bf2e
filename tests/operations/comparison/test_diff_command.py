"""`magicbyte diff`: its exit codes, its three forms, and names that would break them."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx
import pytest

from magicbyte.cli.diff.main import main
from magicbyte.kit.failure import Failure
from tests.operations.made_log import write_database

_HOSTILE = '<img src=x onerror="alert(1)">\u202e&'


def _schema(subject: str, version: int, schema_id: int, schema: str = '"int"', **more: Any) -> dict[str, Any]:
    return {"kind": "schema", "subject": subject, "version": version, "id": schema_id, "schema": schema, **more}


@pytest.fixture
def databases(tmp_path: Path) -> tuple[str, str]:
    """Two logs with 30 versions of other ids, a text that is written differently, and a subject of a hostile name."""
    left = [_schema(f"s{number:02}", 1, number + 1) for number in range(30)]
    right = [_schema(f"s{number:02}", 1, 50) for number in range(30)]
    left += [_schema("text", 1, 70, '"bytes"'), _schema("same", 1, 70, '"bytes"'), _schema(_HOSTILE, 1, 71)]
    right += [_schema("text", 1, 70, ' "bytes"'), _schema("same", 1, 70, '"bytes"')]
    return write_database(tmp_path / "left.db", left), write_database(tmp_path / "right.db", right)


def test_text_shows_the_first_of_each_kind_and_counts_the_rest(
    databases: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*databases, "--examples", "2"]) == 100
    output, progress = capsys.readouterr()
    assert output.splitlines() == [
        f"left:  {databases[0]} (33 versions)",
        f"right: {databases[1]} (32 versions)",
        "",
        "ID: a version has another id (30)",
        "  s00 version 1 has id 1 left and 50 right",
        "  s01 version 1 has id 2 left and 50 right",
        "  and 28 more; --format json lists all",
        "",
        "SUBJECT: a subject is on one side only (1)",
        '  <img src=x onerror="alert(1)">\\u202e& is on the left only, with 1 version: 1',
        "",
        "HIGHEST_ID: a context has given other ids (1)",
        "  context . has given ids up to 71 left and 70 right",
        "",
        "TEXT: a schema means the same and is written differently (1)",
        "  text version 1 is written in two ways that mean the same",
        "",
        "33 differences, 1 version equal on both sides",
    ]
    assert progress == f"reading {databases[0]}\nreading {databases[1]}\n"


def test_json_has_all_differences(databases: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*databases, "--format", "json", "--examples", "0", "--ignore", "subjects, marks"]) == 100
    value = json.loads(capsys.readouterr().out)
    assert value["left"]["source"] == databases[0]
    assert (value["left"]["versions"], value["right"]["versions"], value["sameVersions"]) == (33, 32, 1)
    assert (value["equal"], value["ignored"]) == (False, ["marks", "subjects"])
    assert value["counts"] == {"ID": 30, "TEXT": 1}
    assert len(value["differences"]) == 31
    assert value["differences"][0] == {
        "code": "ID",
        "context": ".",
        "subject": "s00",
        "version": 1,
        "left": 1,
        "right": 50,
        "text": "s00 version 1 has id 1 left and 50 right",
    }


class _Elements(HTMLParser):
    """The elements and the text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def test_html_is_one_file_in_which_names_are_text(
    databases: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*databases, "--format", "html", "--examples", "3"]) == 100
    page = _Elements()
    page.feed(capsys.readouterr().out)
    assert not page.elements & {"img", "script", "link", "iframe"}
    assert page.attributes == {"lang", "charset", "http-equiv", "content", "name", "class"}
    assert '<img src=x onerror="alert(1)">\\u202e& is on the left only' in page.text
    assert "And 27 more; --format json lists all." in page.text
    assert "\u202e" not in page.text


def test_ignored_differences_do_not_count(databases: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*databases, "--ignore", "ids,subjects,marks,text"]) == 0
    assert capsys.readouterr().out.endswith(
        "\nno difference, 1 version equal on both sides; ignored: ids, marks, subjects, text\n"
    )
    assert main([databases[0], databases[0]]) == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--ignore", "time,ts"], "time: unknown; known are config, content, contexts, deleted, ids, marks, mode"),
        (["--examples", "-1"], "'-1' is not a whole number from 0 on"),
    ],
)
def test_a_wrong_option_is_named(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["a", "b", *arguments])
    assert ended.value.code == 2
    assert told in capsys.readouterr().err


def test_a_source_that_does_not_answer_ends_with_3(
    databases: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([databases[0], "http://127.0.0.1:1", "--other-property", "max.retries=0"]) == 3
    assert "http://127.0.0.1:1" in capsys.readouterr().err
    with pytest.raises(Failure, match="there is no file nowhere"):
        main([databases[0], "nowhere"])


def test_a_running_registry_is_compared_with_a_log(
    schema_registry: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = httpx.post(f"{schema_registry.url}/subjects/diff-a/versions", json={"schema": '"int"'})
    exported = httpx.get(f"{schema_registry.url}/export").text.splitlines()
    lines = [json.loads(line) for line in exported]
    url = write_database(tmp_path / "same.db", [line for line in lines if line["kind"] in ("schema", "config", "mode")])
    assert main([schema_registry.url, url]) == 0, capsys.readouterr().out
    other = [_schema("diff-a", 1, answer.json()["id"], '"long"')]
    capsys.readouterr()
    url = write_database(tmp_path / "other.db", other)
    assert main([schema_registry.url, url, "--ignore", "subjects,config,mode,marks,ts,contexts"]) == 100
    assert "ID_TWO_CONTENTS: an id means different schemas (1)" in capsys.readouterr().out
