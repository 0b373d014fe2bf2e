"""`magicbyte upgrade`: what stands against an upgrade is named, and the leader gives up the lead."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from magicbyte.cli.main import main
from magicbyte.cli.upgrade import config_files
from magicbyte.kit.failure import Failure
from magicbyte.operations.closing import Closing
from magicbyte.operations.sources.port import Origin, RawRecord, Reading
from magicbyte.operations.state import State
from magicbyte.operations.upgrade.findings import Severity
from magicbyte.operations.upgrade.log_check import check_log
from magicbyte.operations.upgrade.nodes import NodeState, check_nodes
from magicbyte.operations.upgrade.releases import KEY_TYPES, SettingChange, release_of
from magicbyte.security.rights.rule_file import parse_line
from magicbyte.testing import running_registry
from registry.state import records
from registry.state.model import RuleOrigin
from registry.state.records import Key

URLS = ("http://a", "http://b", "http://c")
CURRENT = (0, 2, 0)


class Records(Closing):
    """A source of records."""

    name = "records"

    def __init__(self, *keys_and_values: tuple[bytes | None, bytes | None]) -> None:
        self._records = [RawRecord(n, 0, key, value) for n, (key, value) in enumerate(keys_and_values)]

    def records(self) -> Any:
        return iter(self._records)

    def origin(self) -> Origin:
        return Origin(self.name)

    def notes(self) -> tuple[str, ...]:
        return ()

    def topic_configs(self) -> dict[str, str]:
        return {}

    def read(self) -> Reading:
        return Reading(State(), Origin(self.name))


SCHEMA = (
    b'{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}',
    b'{"subject":"s","version":1,"id":1,"schema":"\\"int\\"","deleted":false}',
)
RULE = (
    records.encode_key(Key(records.RULE, rule=next(iter(parse_line("allow User:a READ SUBJECT LITERAL *"))))),
    records.encode_rule(RuleOrigin("User:b", 0)),
)
UNKNOWN = (b'{"keytype":"ASSOC","tenant":"default","magic":0}', b"{}")
NO_JSON = (b"garbage", b"{}")
BROKEN = (b'{"keytype":"SCHEMA","subject":"s","version":2,"magic":1}', b"\xff")


@pytest.mark.parametrize(
    ("found", "target", "problems"),
    [
        ((SCHEMA,), "0.2.0", []),
        ((SCHEMA, UNKNOWN), "0.2.0", []),
        ((SCHEMA, BROKEN), "0.2.0", ["1 record that no release reads (undecodable)"]),
        ((NO_JSON, UNKNOWN), "0.2.0", ["1 record that no release reads (undecodable)"]),
        ((RULE,), "0.2.0", []),
        (
            (RULE,),
            "0.1.0",
            ["1 record of the type MAGICBYTE_ACL: releases before 0.2.0 ignore the type"],
        ),
    ],
)
def test_records_that_a_release_does_not_read(found: Any, target: str, problems: list[str]) -> None:
    findings = list(check_log(Records(*found), release_of(target)))
    assert [finding.text for finding in findings if finding.severity is Severity.PROBLEM] == problems
    assert findings[0].text.startswith("read to its end: ")


def test_each_type_of_key_that_this_release_reads_has_the_release_that_brought_it() -> None:
    assert KEY_TYPES.keys() == records._SHAPES.keys()


def node(url: str, version: str = "0.2.0", *, leads: bool | None = False, ready: bool = True) -> NodeState:
    return NodeState(url, version, ready, leads, URLS[1], "" if ready else "no node leads")


@pytest.mark.parametrize(
    ("nodes", "target", "problems", "last"),
    [
        ([node(URLS[0]), node(URLS[1], leads=True)], (0, 2, 0), [], "runs 0.2.0 and leads"),
        (
            [node(URLS[1], leads=True), node(URLS[0]), node(URLS[2])],
            (0, 3, 0),
            [],
            "replace in this order: http://a, http://c, http://b; before the last one, `magicbyte upgrade step-down`",
        ),
        ([node(URLS[0], "0.3.0"), node(URLS[1], leads=True)], (0, 3, 0), [], "replace in this order: http://b"),
        (
            [node(URLS[0], ready=False), node(URLS[1], leads=True)],
            (0, 2, 0),
            ["is not ready: no node leads"],
            "runs 0.2.0 and leads",
        ),
        (
            [node(URLS[1], leads=True)],
            (0, 4, 0),
            ["0.2.0 and 0.4.0 are more than one minor release apart"],
            "replace in this order: http://b",
        ),
        (
            [node(URLS[0], leads=True), node(URLS[1], leads=True)],
            (0, 2, 0),
            ["the nodes name different leaders"],
            "the nodes name different leaders",
        ),
    ],
)
def test_nodes_are_replaced_followers_first(
    nodes: list[NodeState], target: tuple[int, ...], problems: list[str], last: str
) -> None:
    findings = list(check_nodes(nodes, target))
    assert [finding.text for finding in findings if finding.severity is Severity.PROBLEM] == problems
    assert findings[-1].text.startswith(last)


@pytest.mark.parametrize("text", ["", "0", "0.x", "1.2.3.4", "-1.0", "latest"])
def test_the_check_refuses_an_unknown_release(text: str) -> None:
    with pytest.raises(Failure, match="is no release; write it as"):
        release_of(text)


def test_releases_are_ordered() -> None:
    assert release_of("0.2") == release_of("v0.2.0") == CURRENT < release_of("0.10.0") < release_of("1.0")


def ask(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    code = main(["upgrade", "check", *arguments, "--output", "json"])
    out = capsys.readouterr().out
    return code, json.loads(out) if out else None


@pytest.mark.parametrize(
    ("text", "code", "problem"),
    [
        ("magicbyte.storage=memory:\n", 0, ""),
        ("magicbyte.storage=memory:\nmaster.eligibility=true\n", 0, ""),
        ("magicbyte.storage=memory:\nmagicbyte.workers=many\n", 100, "refused: "),
    ],
)
def test_files_of_settings(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, code: int, problem: str
) -> None:
    file = tmp_path / "registry.properties"
    file.write_text(text)
    found, value = ask(capsys, "--config", str(file))
    assert (found, value["release"], value["problems"] > 0) == (code, "0.2.0", code == 100)
    assert problem in " ".join(
        each["text"] for each in value["findings"] if each["severity"] == "problem" or not problem
    )


def test_a_setting_that_a_release_renames(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = SettingChange("registry", "old.name", "0.2.0", "it has another name", "use new.name")
    monkeypatch.setattr(config_files, "SETTING_CHANGES", (change,))
    file = tmp_path / "registry.properties"
    file.write_text("magicbyte.storage=memory:\nold.name=true\n")
    code, value = ask(capsys, "--config", str(file))
    assert (code, value["problems"]) == (100, 1)
    [problem] = [each for each in value["findings"] if each["severity"] == "problem"]
    assert (problem["text"], problem["remedy"]) == ("old.name: since 0.2.0, it has another name", "use new.name")


def test_a_database_and_its_node(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path}/schemas.db"
    with running_registry(database) as server:
        httpx.post(f"{server.url}/subjects/s/versions", json={"schema": '"int"'}).raise_for_status()
        code, value = ask(capsys, "--node", server.url, database)
        assert code == 0
        assert [each["text"] for each in value["findings"]] == [
            "runs 0.2.0 and leads",
            "read to its end: 1 version; records: 1 SCHEMA",
        ]
        assert main(["upgrade", "step-down", server.url]) == 0
        assert "The storage sqlite has no leader" in capsys.readouterr().out
    assert main(["upgrade", "step-down", server.url]) == 3
    assert main(["upgrade", "check", "--node", server.url]) == 3
    assert "Traceback" not in capsys.readouterr().err


def test_the_check_reports_a_wrong_call(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["upgrade", "check"])
    assert ended.value.code == 2
    assert main(["upgrade", "check", "--to", "9.0", f"{tmp_path}"]) == 1
    assert "which does not know 9.0: run the check of that release" in capsys.readouterr().err
