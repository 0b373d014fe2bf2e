"""The preflight: vendors are told apart, each finding fires where it should and is silent elsewhere."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from magicbyte import __version__
from magicbyte.cli.main import COMMANDS, main
from magicbyte.operations.failures import Unreachable
from magicbyte.operations.migration.finding import KINDS
from magicbyte.operations.migration.preflight import Outcome, Request, run_preflight
from magicbyte.operations.migration.topic_frames import Frames, findings_of
from magicbyte.operations.sources.opening import Properties, open_source
from magicbyte.testing import running_registry
from registry.app import create_app
from registry.settings import RegistrySettings
from tests.operations.backup.proxied import AS_ADMIN, proxied, some_rights
from tests.operations.migration.fake_origin import NULL, fake_origin, version

INT, LONG = '"int"', '"long"'
RECORD = '{"type":"record","name":"A","fields":[{"name":"a","type":"int"}]}'
SPACED = '{"type": "record", "name": "A", "fields": [{"type": "int", "name": "a"}]}'
OTHER_RECORD = '{"type":"record","name":"A","fields":[{"name":"a","type":"int"},{"name":"b","type":"int"}]}'
RULE = {"name": "r", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "message.a > 0"}


def findings(outcome: Outcome) -> list[tuple[str, str]]:
    """Code and sentence of the findings, without those about reading itself."""
    return [(one.code, one.sentence) for one in outcome.findings if one.code != "READING"]


@pytest.mark.parametrize(
    ("vendor", "base", "told"),
    [
        ("confluent", "", ("confluent", "7.6.1")),
        ("axonops", "", ("axonops", "0.2.1")),
        ("karapace", "", ("karapace", "6.2.0")),
        ("redpanda", "", ("redpanda", "")),
        ("apicurio", "/apis/ccompat/v7", ("apicurio", "3.1.0")),
        ("apicurio 2", "/apis/ccompat/v6", ("apicurio", "2.6.5")),
        ("", "/apis/ccompat/v7", ("apicurio", "")),
        ("", "", ("", "")),
    ],
)
def test_the_preflight_recognizes_the_vendor_by_its_answers(vendor: str, base: str, told: tuple[str, str]) -> None:
    with fake_origin(vendor, [version("a", 1, 1, INT)], base=base) as url:
        outcome = run_preflight(Request(url))
    assert (outcome.server.vendor, outcome.server.version) == told
    assert findings(outcome) == []
    assert outcome.is_ready


@pytest.mark.slow
def test_the_preflight_distinguishes_our_registry_from_confluents() -> None:
    with running_registry("memory:") as origin, running_registry("memory:") as target:
        outcome = run_preflight(Request(origin.url, target=target.url))
    assert (outcome.server.vendor, outcome.server.version) == ("magicbyte", __version__)
    assert findings(outcome) == []


#: Name -> versions, further answers, and the findings.
CASES: Mapping[str, tuple[Sequence[Mapping[str, Any]], Mapping[str, Any], list[tuple[str, str]]]] = {
    "a schema that is not parsed": (
        [version("a", 1, 1, '{"type":"nothing"}')],
        {},
        [("UNPARSED", "version 1 of a (id 1) is not parsed: ")],
    ),
    "a history that our rules refuse": (
        [version("a", 1, 1, LONG), version("a", 2, 2, INT)],
        {},
        [("JUDGED_DIFFERENTLY", "our rules refuse version 2 of a (id 2) at BACKWARD: ")],
    ),
    "the same history at its subject's level": (
        [version("a", 1, 1, LONG), version("a", 2, 2, INT)],
        {"/config/a": {"compatibilityLevel": "NONE"}},
        [],
    ),
    "the same history the other way round": ([version("a", 1, 1, INT), version("a", 2, 2, LONG)], {}, []),
    "two schemas of one id": (
        [version("a", 1, 1, INT), version("b", 1, 1, LONG)],
        {},
        [("FAULT", "id 1 ")],
    ),
    "a reference that leads nowhere": (
        [version("a", 1, 1, RECORD, references=[{"name": "B", "subject": "b", "version": 1}])],
        {},
        [("FAULT", ""), ("UNPARSED", "version 1 of a")],
    ),
    "metadata and rules": (
        [version("a", 1, 1, RECORD, metadata={"properties": {"owner": "x"}}, ruleSet={"domainRules": [RULE]})],
        {},
        [("METADATA", "1 version have metadata"), ("RULES", "rules by type of executor: CEL (1)")],
    ),
    "a rule of a type without an executor": (
        [version("a", 1, 1, RECORD, ruleSet={"domainRules": [{**RULE, "type": "OURS"}]})],
        {},
        [("RULE_TYPES", "no client of ours has an executor of type OURS: a"), ("RULES", "rules by type")],
    ),
    "a rule that encrypts": (
        [version("a", 1, 1, RECORD, ruleSet={"domainRules": [{**RULE, "kind": "TRANSFORM", "type": "ENCRYPT"}]})],
        {},
        [("ENCRYPTED_FIELDS", "rules encrypt fields: a"), ("RULES", "")],
    ),
    "metadata that is encrypted": (
        [version("a", 1, 1, RECORD, metadata={"properties": {"__enc__": "true", "owner": "x"}})],
        {},
        [("METADATA", ""), ("ENCODED_METADATA", "metadata is encrypted by the origin: a")],
    ),
    "exporters": (
        [version("a", 1, 1, INT)],
        {"/exporters": ["to-cloud"]},
        [("EXPORTERS", "the origin has 1 exporter: to-cloud")],
    ),
    "keys of a DEK registry": (
        [version("a", 1, 1, INT)],
        {"/dek-registry/v1/keks": ["k"]},
        [("ENCRYPTED_FIELDS", "the DEK registry of the origin has 1 key: k")],
    ),
    "no exporter and no key": ([version("a", 1, 1, INT)], {"/exporters": [], "/dek-registry/v1/keks": []}, []),
    "a policy that we lack": (
        [version("a", 1, 1, INT)],
        {"/config/a": {"compatibilityLevel": "FULL", "compatibilityPolicy": "LOGICAL"}},
        [("SETTINGS", "a has the policy LOGICAL")],
    ),
    "a mode that takes no registrations": (
        [version("a", 1, 1, INT)],
        {"/mode": {"mode": "READONLY"}},
        [("MODE", "the registry is in mode READONLY")],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_finding_fires_once_and_elsewhere_not(name: str) -> None:
    versions, answers, expected = CASES[name]
    with fake_origin("confluent", versions, answers=answers) as url:
        outcome = run_preflight(Request(url))
    found = findings(outcome)
    assert [code for code, _ in found] == [code for code, _ in expected]
    for (_, sentence), (_, beginning) in zip(found, expected, strict=True):
        assert sentence.startswith(beginning)
    assert outcome.is_ready == all(KINDS[code].severity != "stop" for code, _ in expected)
    assert all(finding.advice for finding in outcome.findings)


def test_a_producer_text_that_only_the_origin_finds_stops_the_move(tmp_path: Path) -> None:
    (tmp_path / "a.avsc").write_text(OTHER_RECORD)
    (tmp_path / "b.avsc").write_text(SPACED)
    (tmp_path / "c.avsc").write_text(INT)
    versions = [version("a", 1, 1, RECORD), version("b", 1, 2, RECORD)]
    with fake_origin("karapace", versions, finds_all=True) as url:
        outcome = run_preflight(Request(url, lookups=[tmp_path]))
    found = {one.subject: (one.code, one.advice) for one in outcome.findings if one.code != "READING"}
    # Our registry compares structures: b is found however it is spelled.
    assert {subject: code for subject, (code, _) in found.items()} == {
        "a": "LOOKUP_MISSED",
        "c": "PRODUCER_UNREGISTERED",
    }
    assert not outcome.is_ready


def test_an_empty_registry_answers_null_and_another_server_404() -> None:
    with fake_origin("axonops", answers={"/subjects": NULL}) as url, open_source(url, Properties()) as source:
        assert source.read().state.versions == {}
    with (
        fake_origin("axonops", answers={"/subjects": None}) as url,
        open_source(url, Properties()) as source,
        pytest.raises(Unreachable, match="has no /subjects"),
    ):
        source.read()


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_failed_look_up_at_the_origin_is_no_missing_schema(status: int, tmp_path: Path) -> None:
    (tmp_path / "a.avsc").write_text(OTHER_RECORD)
    with fake_origin("karapace", [version("a", 1, 1, RECORD)], look_up_status=status) as url:
        request = Request(url, Properties({"retries.wait.ms": "1"}), lookups=[tmp_path])
        with pytest.raises(Unreachable, match=r"does not look .*a\.avsc up"):
            run_preflight(request)


def test_hidden_subjects_at_either_end_stop_the_move(tmp_path: Path) -> None:
    properties = {"magicbyte.storage": "memory:", **some_rights(tmp_path)}
    part = Properties({"basic.auth.user.info": "part:mbs_part"})
    with proxied(create_app(RegistrySettings.from_properties(properties))) as hidden, fake_origin("confluent") as open_:
        for subject in ("base", "other"):
            hidden.ask("POST", f"/subjects/{subject}/versions", {"schema": INT}, AS_ADMIN)
        for request in (Request(hidden.url, part), Request(open_, target=hidden.url, target_properties=part)):
            outcome = run_preflight(request)
            assert not outcome.is_ready
            assert {code for code, _ in findings(outcome)} >= {"PARTIAL"}
            assert any(f"{hidden.url}: some subjects" in sentence for _, sentence in findings(outcome)), (
                outcome.findings
            )


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("a.txt", "x", "is no schema file"),
        ("a.jsonl", "{}", "is no request"),
        ("a.jsonl", '{"subject": 1, "schema": "x"}', "have to be texts"),
        ("a.avsc", None, "cannot be read"),
    ],
)
def test_the_preflight_reports_a_wrong_producer_file_before_reading(
    name: str, text: str | None, error: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / name
    if text is not None:
        file.write_text(text)
    # Nothing listens there.
    assert main(["migrate", "preflight", "--from", "http://127.0.0.1:1", "--lookups", str(file)]) == 1
    said = capsys.readouterr().err
    assert error in said
    assert str(file) in said


def test_clients_are_counted_in_a_log_and_apicurios_own_api_stops(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    log.write_text(
        '1.2.3.4 - - [28/Nov/2026:03:00:00 +0000] "GET /subjects HTTP/1.1" 200 12 "-" "confluent-kafka-python/2.6 x"\n'
        '{"path": "/apis/registry/v2/ids/globalIds/1", "user_agent": "Java/17"}\n'
        "rubbish\n"
    )
    with fake_origin("confluent", [version("a", 1, 1, INT)]) as url:
        assert findings(run_preflight(Request(url, access_log=log))) == [
            ("NATIVE_API", "1 request use Apicurio's own API: Java/17 (1)"),
            (
                "CLIENTS",
                "requests by client: confluent-kafka-python/2.6 (1), Java/17 (1); "
                "1 line of another form were passed over",
            ),
        ]
        log.write_text("rubbish\n")
        assert main(["migrate", "preflight", "--from", url, "--log", str(log)]) == 1


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([b"\0\0\0\0\x07x"], ["IDS"]),
        ([b"\0\0\0\0\x08x"], ["IDS_UNKNOWN"]),
        ([b"\0\0\0\0\0\0\0\0\x07x"], ["FRAMES_8"]),
        ([b"\0\0\0\0\0\0\0"], ["IDS_UNKNOWN"]),
        ([None, b"", b"{}"], ["IDS"]),
        ([b"\0\0\0\0\x07x", b"\0\0\0\0\0\0\0\0\x09"], ["FRAMES_8", "IDS"]),
        ([b"\x01" + bytes(16)], ["IDS"]),
    ],
)
def test_frames_say_which_ids_the_data_has(values: list[bytes | None], codes: list[str]) -> None:
    frames = Frames("t")
    for value in values:
        frames.add(value, {7})
    assert frames.records == len(values)
    assert [finding.code for finding in findings_of(frames, {7})] == codes


def test_the_output_is_json_with_a_plan_and_the_way_back(capsys: pytest.CaptureFixture[str]) -> None:
    with fake_origin("karapace", [version("a", 1, 1, INT)]) as url:
        assert main(["migrate", "preflight", "--from", url, "--output", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["ready"]
    assert report["origin"]["vendor"] == "karapace"
    assert report["origin"]["versions"] == 1
    commands = [line for part in ("steps", "rollback") for step in report["plan"][part] for line in step["commands"]]
    assert f"magicbyte backup {url} -o origin.ndjson.zst" in commands
    # It has no mode READONLY.
    assert not any("/mode" in line for line in commands)
    named = {line.split()[1] for line in commands if line.startswith("magicbyte ")}
    assert named - {"mirror"} <= COMMANDS.keys()


def test_exit_codes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", "preflight", "--from", "http://127.0.0.1:1"]) == 3
    assert "127.0.0.1:1" in capsys.readouterr().err
    with fake_origin("confluent", [version("a", 1, 1, INT)], answers={"/exporters": ["e"]}) as url:
        assert main(["migrate", "preflight", "--from", url]) == 100
        assert main(["migrate", "preflight", "--from", url, "--ignore", "EXPORTERS"]) == 0
        assert main(["migrate", "preflight", "--from", url, "--ignore", "NOTHING"]) == 1
        assert main(["migrate", "preflight", "--from", url, "--topics", "t"]) == 1
        assert main(["migrate", "preflight", "--from", url, "--to", str(tmp_path / "none")]) == 1
    with fake_origin("confluent", answers={"/schemas/types": {}}) as url:
        assert main(["migrate", "preflight", "--from", url]) == 1
    assert "is no schema registry" in capsys.readouterr().err


def test_a_target_with_other_schemas_conflicts() -> None:
    with (
        fake_origin("confluent", [version("a", 1, 1, INT)]) as origin,
        fake_origin(
            "axonops",
            [version("a", 1, 1, LONG), version("z", 1, 9, INT)],
            answers={"/mode": {"mode": "READONLY"}, "/config": {"compatibilityLevel": "FULL"}},
        ) as target,
    ):
        found = findings(run_preflight(Request(origin, target=target)))
        assert [code for code, _ in found] == [
            "TARGET_CONFLICT",
            "TARGET_READ_ONLY",
            "DEFAULT_LEVEL",
            "TARGET_NOT_EMPTY",
            "TARGET_FOREIGN",
        ]
    with pytest.raises(Unreachable):
        run_preflight(Request(origin))
