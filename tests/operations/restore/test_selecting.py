"""Single ids and subjects that are brought back, into their subject or into another context."""

from __future__ import annotations

from pathlib import Path

import pytest

from magicbyte.operations.backup.selection import selected
from magicbyte.operations.restore.mapping import map_contexts
from magicbyte.operations.restore.selecting import parse_selection, select
from magicbyte.operations.sources.port import Origin, Reading
from magicbyte.operations.state import ContextState, State
from registry.feed.export import in_order
from tests.operations.restore.conftest import Command, state_at
from tests.operations.restore.made_registry import LINES, export_of, made_state

_PAYMENT = {("payments-value", 2), ("orders-value", 3)}


@pytest.mark.parametrize(
    ("patterns", "versions", "settings"),
    [
        (["id=20"], _PAYMENT, set()),
        (["id=10"], {("orders-value", 1), ("alias-value", 1)}, set()),
        (["id=:.eu:3"], {(":.eu:cross-value", 2), ("orders-value", 1)}, set()),
        (["id=:.eu:1"], {(":.eu:orders-value", 1)}, set()),
        (["subject=orders-*"], {("orders-value", 1), ("orders-value", 3), ("orders-value", 4)}, {"orders-value"}),
        (["subject=:.eu:orders-*"], {(":.eu:orders-value", 1)}, set()),
        (
            ["subject=:*:orders-*"],
            {("orders-value", 1), ("orders-value", 3), ("orders-value", 4), (":.eu:orders-value", 1)},
            {"orders-value"},
        ),
        (
            ["subject=:.eu:*"],
            {(":.eu:orders-value", 1), (":.eu:cross-value", 2), ("orders-value", 1)},
            {":.eu:"},
        ),
        (["subject=:.:gone-value"], {("gone-value", 1)}, set()),
        (["subject=json-value", "id=20"], {("json-value", 1), *_PAYMENT}, {"json-value"}),
        (
            ["context=.eu"],
            {(":.eu:orders-value", 1), (":.eu:cross-value", 2), ("orders-value", 1)},
            {":.eu:"},
        ),
    ],
)
def test_a_selected_part_includes_all_its_references(
    patterns: list[str], versions: set[tuple[str, int]], settings: set[str]
) -> None:
    part = select(made_state(), [parse_selection(pattern) for pattern in patterns])
    assert set(part.versions) == versions
    assert {*part.configs, *part.modes} == settings


def test_contexts_are_renamed_everywhere() -> None:
    state = map_contexts(made_state(), {".": ".recovered", ".eu": ".de"})
    assert set(state.contexts) == {".", ".recovered", ".de", ".empty", ".gone"} - {"."}
    assert state.contexts[".recovered"] == ContextState(listed=True, highest_id=40)
    assert {name for name, _ in state.versions} == {
        *(f":.recovered:{name}-value" for name in ("orders", "payments", "alias", "ruled", "proto", "json", "gone")),
        ":.de:orders-value",
        ":.de:cross-value",
    }
    # A name without a context leads to the context of the schema that has it.
    assert state.versions[":.recovered:payments-value", 1].references[0].subject == "orders-value"
    assert state.versions[":.de:cross-value", 2].references[0].subject == ":.recovered:orders-value"
    assert set(state.configs) == {":.recovered:orders-value", ":.de:", ":.recovered:"}
    assert state.modes == {":.recovered:json-value": "READONLY", ":.de:": "READONLY", ":.recovered:": "READWRITE"}


def test_a_reference_to_latest_leads_to_the_latest_version_that_is_not_deleted() -> None:
    refers = [{"name": "T", "subject": "t", "version": -1}]
    lines: list[dict[str, object]] = [
        {"kind": "schema", "subject": "s", "version": 1, "id": 1, "schema": '"int"', "references": refers},
        {"kind": "schema", "subject": "t", "version": 1, "id": 2, "schema": '"long"'},
        {"kind": "schema", "subject": "t", "version": 2, "id": 3, "schema": '"bytes"', "deleted": True},
    ]
    state = State.of_lines(lines)
    assert set(select(state, [parse_selection("subject=s")]).versions) == {("s", 1), ("t", 1)}
    assert [one.subject for one in in_order(list(state.versions.values()))] == ["t", "s", "t"]
    deleted = State.of_lines([lines[0] | {"deleted": True}, *lines[1:]])
    part = selected(Reading(deleted, Origin("")), None, deleted=False)
    assert set(part.state.versions) == {("t", 1)}


@pytest.mark.parametrize(
    ("alias", "mapped"),
    [
        # Looked up in the context of the subject that has it: the alias is moved with it.
        ("orders", "orders"),
        (":.eu:orders", ":.de:orders"),
        (":.:orders", ":.recovered:orders"),
        # Without its context, it would lead elsewhere.
        (":.us:orders", ":.:orders"),
        (":.ap:orders", ":.ap:orders"),
    ],
)
@pytest.mark.parametrize("member", ["alias", "aliasForDeks"])
def test_aliases_lead_to_the_same_subjects_in_their_new_contexts(member: str, alias: str, mapped: str) -> None:
    lines = [{"kind": "context", "context": name, "listed": True, "maxId": 0} for name in (".", ".eu", ".us")]
    lines.append({"kind": "config", "subject": ":.eu:old", "config": {member: alias}})
    state = map_contexts(State.of_lines(lines), {".": ".recovered", ".eu": ".de", ".us": "."})
    assert state.configs[":.de:old"].to_json() == {member: mapped}


def test_a_context_becomes_the_default_one() -> None:
    lines = [line for line in LINES if ".eu:" in line.get("subject", "") and "cross" not in line["subject"]]
    state = map_contexts(State.of_lines([LINES[1], *lines]), {".eu": "."})
    assert set(state.versions) == {("orders-value", 1)}
    assert set(state.configs) == {None}


def test_an_id_is_brought_back_into_its_subject_and_into_a_context(
    magicbyte: Command, tmp_path: Path, logical: Path, make_target: object
) -> None:
    target = make_target("memory")  # type: ignore[operator]
    there = tmp_path / "there.ndjson"
    lost = {("payments-value", 2)}
    lines = list(made_state().lines())
    there.write_bytes(export_of([one for one in lines if (one.get("subject"), one.get("version")) not in lost]))
    assert magicbyte("restore", there, "--to", target).code == 0
    before = state_at(target)
    outcome = magicbyte("restore", logical, "--to", target, "--only", "id=20")
    assert outcome.code == 0, outcome.err
    assert "12 versions expected, 12 there, 12 the same, 0 differences" in outcome.out
    assert state_at(target) == made_state()

    moved = magicbyte("restore", logical, "--to", target, "--only", "id=20", "--map-context", ".=.recovered")
    assert moved.code == 0, moved.err
    after = state_at(target)
    recovered = {place: one.schema_id for place, one in after.versions.items() if place[0].startswith(":.recovered:")}
    assert recovered == {(":.recovered:payments-value", 2): 20, (":.recovered:orders-value", 3): 12}
    assert before.versions.items() <= after.versions.items()
    verified = magicbyte("verify", logical, "--to", target, "--only", "id=20", "--map-context", ".=.recovered")
    assert verified.code == 0, verified.out
