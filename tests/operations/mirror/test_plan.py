"""The plan of a mirror: its lines in their order, and what forbids them."""

from __future__ import annotations

from typing import Any

import pytest

from magicbyte.kit.failure import Failure
from magicbyte.operations.mirror.mark import Anchor, Mark
from magicbyte.operations.mirror.naming import Naming, checked_naming, placed
from magicbyte.operations.mirror.plan import Scope, plan_changes
from magicbyte.operations.mirror.target_state import TargetState
from magicbyte.operations.state import State


def _schema(subject: str, version: int, schema_id: int, text: str = '"int"', **more: Any) -> dict[str, Any]:
    return {"subject": subject, "version": version, "id": schema_id, "schema": text, "deleted": False, **more}


def _mode(subject: str, mode: str) -> dict[str, Any]:
    return {"kind": "mode", "subject": subject, "mode": mode}


_IMPORT = {"kind": "mode", "mode": "IMPORT"}
_REFERS = [{"name": "R", "subject": "a", "version": 1}]


def _told(line: dict[str, Any]) -> str:
    return " ".join(str(line[name]) for name in ("kind", "of", "subject", "version", "context") if name in line)


@pytest.mark.parametrize(
    ("wanted", "held", "lines"),
    [
        ([], [_IMPORT], []),
        ([], [], ["mode"]),
        ([_schema("a", 1, 1)], [_IMPORT], ["schema a 1"]),
        ([_schema("a", 1, 1)], [_IMPORT, _schema("a", 1, 1)], []),
        ([_schema("a", 1, 1, deleted=True)], [_IMPORT, _schema("a", 1, 1)], ["schema a 1"]),
        ([], [_IMPORT, _schema("a", 1, 1)], ["removal schema a 1"]),
        ([_schema("a", 1, 2)], [_IMPORT, _schema("a", 1, 1)], ["removal schema a 1", "schema a 1"]),
        # References first, and referrers first when they go.
        (
            [_schema("b", 1, 1, '"long"', references=_REFERS), _schema("a", 1, 2)],
            [_IMPORT],
            ["schema a 1", "schema b 1"],
        ),
        (
            [],
            [_IMPORT, _schema("b", 1, 2, '"long"', references=_REFERS), _schema("a", 1, 1)],
            ["removal schema b 1", "removal schema a 1"],
        ),
        (
            [],
            [_IMPORT, _schema("b", 1, 1, '"long"', references=_REFERS), _schema("a", 1, 2)],
            ["removal schema b 1", "removal schema a 1"],
        ),
        # Who refers to a version that is replaced is written again.
        (
            [_schema("b", 1, 2, '"long"', references=_REFERS), _schema("a", 1, 3, '"double"')],
            [_IMPORT, _schema("b", 1, 2, '"long"', references=_REFERS), _schema("a", 1, 1)],
            ["removal schema b 1", "removal schema a 1", "schema a 1", "schema b 1"],
        ),
        # A mode that forbids writes is lifted for them.
        (
            [_mode("a", "READONLY"), _schema("a", 1, 1), _schema("a", 2, 2, '"long"')],
            [_IMPORT, _mode("a", "READONLY"), _schema("a", 1, 1)],
            ["removal mode a", "schema a 2", "mode a"],
        ),
        ([_mode("a", "READONLY"), _schema("a", 1, 1)], [_IMPORT, _mode("a", "READONLY"), _schema("a", 1, 1)], []),
        ([_mode("a", "READWRITE"), _schema("a", 1, 1)], [_IMPORT, _schema("a", 1, 1)], []),
        ([{"kind": "context", "context": ".", "listed": True, "maxId": 9}], [_IMPORT], ["context ."]),
        ([{"kind": "config", "config": {"compatibilityLevel": "FULL"}}], [_IMPORT], ["config"]),
        ([], [_IMPORT, {"kind": "config", "config": {"compatibilityLevel": "FULL"}}], ["removal config"]),
    ],
)
def test_lines(wanted: list[dict[str, Any]], held: list[dict[str, Any]], lines: list[str]) -> None:
    scope = Scope(frozenset({"a", "b"}), frozenset({"."}))
    present = TargetState(State.of_lines(held))
    plan = plan_changes(State.of_lines(wanted), present, scope)
    told = [_told(line) for line in plan.lines]
    assert told == lines
    assert not plan.conflicts
    present.apply(plan.lines)
    assert plan_changes(State.of_lines(wanted), present, scope).lines == []


@pytest.mark.parametrize(
    ("wanted", "held", "deletes", "conflict"),
    [
        ([_schema("a", 1, 1)], [_schema("foreign", 1, 1, '"long"')], True, "id 1 of context . is a version 1"),
        ([_schema("a", 1, 1), _schema("b", 1, 1, '"long"')], [], True, "id 1 of context . is b version 1"),
        ([_schema("a", 1, 2)], [_schema("a", 1, 1)], False, "with --no-deletes it cannot be replaced"),
        ([_schema("a", 1, 1, '"long"')], [_schema("a", 1, 1)], False, "with --no-deletes it cannot be replaced"),
    ],
)
def test_conflicts(wanted: list[dict[str, Any]], held: list[dict[str, Any]], deletes: bool, conflict: str) -> None:
    scope = Scope(frozenset({"a", "b"}), frozenset({"."}), deletes=deletes)
    plan = plan_changes(State.of_lines(wanted), TargetState(State.of_lines(held)), scope)
    assert any(conflict in told for told in plan.conflicts), plan.conflicts


def test_the_plan_names_unmirrored_referrers_of_a_version_to_delete() -> None:
    held = [_schema("a", 1, 1), _schema("foreign", 1, 2, '"long"', references=_REFERS)]
    plan = plan_changes(State(), TargetState(State.of_lines(held)), Scope(frozenset({"a"}), frozenset({"."})))
    assert plan.held_back == [(("foreign", 1), ("a", 1))]


def test_the_same_content_under_an_id_is_no_conflict() -> None:
    scope = Scope(frozenset({"a"}), frozenset({"."}))
    plan = plan_changes(
        State.of_lines([_schema("a", 1, 1)]), TargetState(State.of_lines([_schema("foreign", 1, 1)])), scope
    )
    assert not plan.conflicts


@pytest.mark.parametrize(
    ("naming", "name", "in_target"),
    [
        (Naming(), "a", "a"),
        (Naming(), ":.x:a", ":.x:a"),
        (Naming(), None, None),
        (Naming(".dr"), "a", ":.dr:a"),
        (Naming(".dr"), ":.x:a", ":.dr.x:a"),
        (Naming(".dr"), None, ":.dr:"),
        (Naming(rename="p-${subject}-s"), ":.x:a", ":.x:p-a-s"),
    ],
)
def test_names(naming: Naming, name: str | None, in_target: str | None) -> None:
    assert naming.name(name) == in_target
    assert naming.origin(in_target) == (":.:" if name is None else name)


@pytest.mark.parametrize("naming", [Naming(), Naming(".dr"), Naming(patterns=("a",))])
def test_the_mark_of_new_contexts_keeps_its_name_and_is_no_context(naming: Naming) -> None:
    mark = {"kind": "context", "context": ".__GLOBAL", "listed": False, "maxId": 9}
    part = placed(State.of_lines([_schema("a", 1, 1), mark]), naming)
    assert part.state.contexts[".__GLOBAL"].highest_id == 9
    assert part.contexts == {naming.root}
    # It is raised, whatever the scope is, and never lowered.
    scope = Scope(frozenset(), frozenset())
    assert plan_changes(part.state, TargetState(State()), scope).lines == [mark]
    assert plan_changes(part.state, TargetState(State.of_lines([{**mark, "maxId": 10}])), scope).lines == []


@pytest.mark.parametrize(
    ("naming", "name"), [(Naming(".dr"), "a"), (Naming(".dr"), ":.drx:a"), (Naming(rename="p-${subject}"), "a")]
)
def test_names_that_no_source_has(naming: Naming, name: str) -> None:
    assert naming.origin(name) is None


@pytest.mark.parametrize(
    ("context", "rename", "automatic", "fault"),
    [
        ("none", "x", "", "needs \\$\\{subject\\} once"),
        ("none", "${subject}${subject}", "", "needs \\$\\{subject\\} once"),
        ("auto", "${subject}", "", "has no cluster id"),
        ("a:b", "${subject}", "", "is not a context"),
        ("", "${subject}", "", "is not a context"),
        ("__GLOBAL", "${subject}", "", "cannot be the name|is not a context"),
    ],
)
def test_wrong_names_are_refused(context: str, rename: str, automatic: str, fault: str) -> None:
    with pytest.raises(Failure, match=fault):
        checked_naming(context, [], rename, automatic=automatic)


def test_contexts_of_options() -> None:
    assert checked_naming("auto", [], "${subject}", automatic="mirror-1").root == ".mirror-1"
    assert checked_naming("dc1", [], "${subject}", automatic="").root == ".dc1"
    assert checked_naming("none", [], "${subject}", automatic="").root == "."


def test_a_reference_to_a_context_has_no_place_in_another_one() -> None:
    reference = [{"name": "R", "subject": ":.x:r", "version": 1}]
    state = State.of_lines([_schema(":.x:r", 1, 1), _schema("a", 1, 1, '"long"', references=reference)])
    assert placed(state, Naming()).subjects == {"a", ":.x:r"}
    with pytest.raises(Failure, match="a version 1: references name subjects"):
        placed(state, Naming(".dr"))


@pytest.mark.parametrize(
    ("naming", "alias", "in_target"),
    [
        (Naming(), ":.x:z", ":.x:z"),
        (Naming(), ":.:z", ":.:z"),
        (Naming(".dc1"), "z", "z"),
        (Naming(".dc1"), ":.x:z", ":.dc1.x:z"),
        (Naming(".dc1"), ":.:z", ":.dc1:z"),
        (Naming(rename="dc1-${subject}"), "z", "dc1-z"),
        (Naming(rename="dc1-${subject}"), ":.x:z", ":.x:dc1-z"),
        (Naming(rename="dc1-${subject}"), ":.:z", ":.:dc1-z"),
    ],
)
def test_aliases_lead_to_the_same_subjects(naming: Naming, alias: str, in_target: str) -> None:
    state = State.of_lines([{"kind": "config", "subject": ":.y:a", "config": {"alias": alias}}])
    config = placed(state, naming).state.configs[naming.name(":.y:a")]
    assert config.alias == in_target


@pytest.mark.parametrize(
    "mark",
    [
        Mark("http://a"),
        Mark("http://a", Naming(".dr", ("a*",), "x-${subject}"), False, "log", 0),
        Mark(
            "s", log_id="l", offset=7, anchor=Anchor(7, "config.updated", "", 5), contexts=(".", ".x"), closure=("r",)
        ),
        Mark(
            "s", modes={":.:": "READONLY"}, before={":.x:": "READWRITE"}, state="promoted", targets={".": 0}, promoted=1
        ),
    ],
)
def test_a_mark_survives_its_storage(mark: Mark) -> None:
    assert Mark.of_json(mark.to_json()) == mark


def test_a_mark_of_another_version_is_refused() -> None:
    with pytest.raises(Failure, match="cannot read"):
        Mark.of_json({"new": 1})
