"""Imports of mirrors: removals, and epochs that fence mirrors which were replaced."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest


def _import(api: Any, *lines: dict[str, Any]) -> Any:
    return api("POST", "/import?lines=true", content="\n".join(map(json.dumps, lines)))


def _mark(epoch: int, value: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"kind": "mirror", "context": ".", "epoch": epoch, **({} if value is None else {"value": value})}


@pytest.mark.parametrize(
    ("stored", "line", "status"),
    [
        # Two mirrors that have read the same epoch: the first one to take over has it.
        (_mark(1, {"writer": "a"}), _mark(1, {"writer": "b"}), 409),
        (_mark(1, {"writer": "a"}), _mark(1, {"writer": "a", "more": 1}), 200),
        (_mark(1, {"writer": "a"}), _mark(2, {"writer": "b"}), 200),
        (_mark(1, {"writer": "a"}), {**_mark(1), "writer": "a"}, 200),
        (_mark(1, {"writer": "a"}), {**_mark(1), "writer": "b"}, 409),
        (_mark(1, {"writer": "a"}), _mark(1), 409),
        (_mark(1, {}), {**_mark(1), "writer": "b"}, 409),
    ],
)
def test_an_epoch_belongs_to_the_writer_that_took_it(
    make_api: Callable[..., Any], stored: dict[str, Any], line: dict[str, Any], status: int
) -> None:
    api = make_api()
    assert _import(api, stored).status_code == 200
    answer = _import(api, {"subject": "a", "version": 1, "id": 1, "schema": '"int"'}, line)
    assert (answer.status_code, api("GET", "/subjects").json()) == (status, ["a"] if status == 200 else [])


def test_the_registry_writes_a_mirror_request_as_a_whole_or_not_at_all(make_api: Callable[..., Any]) -> None:
    api = make_api()
    good = {"subject": "a", "version": 1, "id": 1, "schema": '"int"'}
    bad = {"subject": "b", "version": 0, "id": 2, "schema": '"int"'}
    answer = _import(api, good, bad, _mark(1, {"offset": 7})).json()
    assert (answer["imported"], answer["known"]) == ({}, 0)
    assert [one["line"] for one in answer["refused"]] == [2]
    assert (api("GET", "/subjects").json(), api("GET", "/export").text.count("mirrored")) == ([], 0)
    # Other lines are taken for themselves.
    assert _import(api, good, bad).json()["imported"] == {"schema": 1}


def test_the_mark_of_a_mirror_is_removed(make_api: Callable[..., Any]) -> None:
    api = make_api()
    removal = {"kind": "removal", "of": "mirror", "context": "."}
    assert _import(api, removal).json()["imported"] == {}
    assert _import(api, _mark(1, {"writer": "a"})).status_code == 200
    assert _import(api, removal).json()["imported"] == {"removal": 1}
    assert "mirrored" not in api("GET", "/export").text
    assert (
        _import(api, {"kind": "removal", "of": "mirror"})
        .json()["refused"][0]["message"]
        .endswith("the removal of a mirror's mark needs a context")
    )


@pytest.mark.parametrize(
    ("stored", "epoch", "value", "status"),
    [
        (0, 1, {"a": 1}, 200),
        (0, 1, None, 409),
        (0, 2, {"a": 1}, 409),
        (2, 2, {"a": 1}, 200),
        (2, 2, None, 200),
        (2, 3, {"a": 1}, 200),
        (2, 3, None, 409),
        (2, 1, {"a": 1}, 409),
        (2, 4, {"a": 1}, 409),
    ],
)
def test_an_epoch_fences_older_epochs(
    make_api: Callable[..., Any], stored: int, epoch: int, value: dict[str, Any] | None, status: int
) -> None:
    api = make_api()
    for number in range(1, stored + 1):
        assert _import(api, _mark(number, {})).status_code == 200
    schema = {"subject": "a", "version": 1, "id": 1, "schema": '"int"'}
    answer = _import(api, schema, _mark(epoch, value))
    assert answer.status_code == status
    assert (answer.json().get("error_code") == 40990) is (status == 409)
    assert (api("GET", "/subjects").json() == ["a"]) is (status == 200), "nothing of a fenced mirror is written"
