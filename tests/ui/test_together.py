"""Several GETs in one request: answers as of each alone, with the sender's rights, and nothing else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import orjson
import pytest

from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import running_registry
from magicbyte.ui.messages.exchange import Question, Reply
from magicbyte.ui.together import _lines
from tests.ui.kit.filling import ODD_SUBJECT
from tests.ui.kit.guarded import guarded_registry

ODD = f"/subjects/{quote(ODD_SUBJECT, safe='')}/versions"


def together(url: str, *paths: str, **options: Any) -> list[dict[str, Any]]:
    answer = httpx.post(f"{url}/ui/together", json={"paths": paths}, trust_env=False, **options)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/x-ndjson")
    lines = [json.loads(line) for line in answer.text.splitlines()]
    return sorted(lines, key=lambda line: int(line["index"]))


def test_each_answer_is_that_of_the_get_alone(registry: ServerProcess) -> None:
    paths = [
        "/subjects/flights-value/versions/3?deleted=true",
        ODD,
        "/contexts/.eu/subjects/orders-value/versions",
        "/subjects/nobody/versions",
        "/nowhere",
        "/config?defaultToGlobal=true&origin=true",
    ]
    lines = together(registry.url, *paths)
    assert [line["index"] for line in lines] == [0, 1, 2, 3, 4, 5]
    assert [line["status"] for line in lines] == [200, 200, 200, 404, 404, 200]
    for path, line in zip(paths, lines, strict=True):
        alone = httpx.get(registry.url + path, trust_env=False)
        assert (line["status"], line["body"]) == (alone.status_code, alone.text), path


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"paths": []}, "Expected `array` of length >= 1"),
        ({"paths": ["/subjects"] * 17}, "Expected `array` of length <= 16"),
        ({}, "the body is no such request: Object missing required field `paths`"),
        ({"paths": ["/subjects"], "method": "DELETE"}, "contains unknown field `method`"),
        ({"paths": ["subjects"]}, "'subjects' is no encoded path at the registry"),
        ({"paths": ["//evil.test/subjects"]}, "'//evil.test/subjects' is no encoded path"),
        ({"paths": ["http://evil.test/"]}, "'http://evil.test/' is no encoded path"),
        ({"paths": ["/subjects/../config"]}, "'/subjects/../config' is no encoded path"),
        ({"paths": ["/subjects/%2e%2E/config"]}, "'/subjects/%2e%2E/config' is no encoded path"),
        ({"paths": ["/subjects/a b"]}, "'/subjects/a b' is no encoded path"),
        ({"paths": ["/subjects\r\nx: y"]}, "is no encoded path"),
        ({"paths": ["/subjects/é"]}, "is no encoded path"),
        ({"paths": ["/events"]}, "'/events' cannot be asked together with others"),
        ({"paths": ["/contexts/.eu/events/"]}, "'/contexts/.eu/events/' cannot be asked together"),
        ({"paths": ["/ui/rest/topics"]}, "'/ui/rest/topics' cannot be asked together"),
        ({"paths": ["/ui/together"]}, "'/ui/together' cannot be asked together"),
    ],
)
def test_other_bodies_are_refused(registry: ServerProcess, body: Any, message: str) -> None:
    answer = httpx.post(f"{registry.url}/ui/together", json=body, trust_env=False)
    assert (answer.status_code, answer.json()["error_code"]) == (400, 40001)
    assert message in answer.json()["message"]


def test_a_large_body_is_refused(registry: ServerProcess) -> None:
    answer = httpx.post(f"{registry.url}/ui/together", json={"paths": ["/" + "a" * 70_000]}, trust_env=False)
    assert answer.status_code == 400
    assert "at most 65536 are read" in answer.json()["message"]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with guarded_registry(tmp_path_factory.mktemp("guarded")) as server:
        yield server


@pytest.mark.parametrize(
    ("user", "statuses"),
    [("admin", [200, 200, 200]), ("reader", [200, 403, 403]), ("stranger", [403, 403, 403])],
)
def test_each_get_has_the_rights_of_the_sender(guarded: ServerProcess, user: str, statuses: list[int]) -> None:
    paths = ("/subjects/flights-value/versions", "/subjects/secret-value/versions", "/config/flights-value")
    lines = together(guarded.url, *paths, auth=(user, user))
    alone = [httpx.get(guarded.url + path, auth=(user, user), trust_env=False).status_code for path in paths]
    assert [line["status"] for line in lines] == statuses == alone


def test_who_does_not_sign_in_gets_nothing(guarded: ServerProcess) -> None:
    answer = httpx.post(f"{guarded.url}/ui/together", json={"paths": ["/subjects"]}, trust_env=False)
    assert answer.status_code == 401


def test_pages_of_other_origins_are_refused(registry: ServerProcess) -> None:
    headers = {"Origin": "http://evil.test", "Sec-Fetch-Site": "cross-site"}
    answer = httpx.post(f"{registry.url}/ui/together", json={"paths": ["/subjects"]}, headers=headers, trust_env=False)
    assert answer.status_code == 403


def test_a_large_answer_is_left_to_a_get_alone() -> None:
    """Together, answers are in memory; alone, an export is sent in parts."""
    with running_registry("memory:") as server:
        large = {"schemaType": "JSON", "schema": json.dumps({"description": "x" * 1_100_000})}
        for subject, schema in (("large", large), ("small", {"schema": '"int"'})):
            url = f"{server.url}/subjects/{subject}/versions"
            assert httpx.post(url, json=schema, trust_env=False).status_code == 200
        paths = ("/subjects/large/versions/1", "/subjects/small/versions/1", "/export", "/subjects")
        lines = together(server.url, *paths)
        assert [(line["status"], line["body"] == "") for line in lines] == [
            (0, True), (200, False), (0, True), (200, False),
        ]  # fmt: skip


def test_an_error_of_the_server_does_not_hold_the_answer() -> None:
    async def read(_scope: Any, question: Question) -> Reply:
        if question.target == "/broken":
            raise RuntimeError("a defect")
        return Reply(200, b"{}")

    async def statuses() -> list[tuple[int, int]]:
        lines = [orjson.loads(line) async for line in _lines({}, ["/a", "/broken", "/b"], read)]
        return sorted((line["index"], line["status"]) for line in lines)

    assert asyncio.run(asyncio.wait_for(statuses(), 10)) == [(0, 200), (1, 0), (2, 200)]


def test_a_checkout_sends_each_get_by_itself(registry: ServerProcess) -> None:
    assert httpx.get(f"{registry.url}/ui/config.json", trust_env=False).json()["features"] == []
    assert (Path(__file__).parents[2] / "magicbyte" / "ui" / "page" / "loads.json").exists() is False
