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
def test_an_epoch_fences_what_is_older(
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
