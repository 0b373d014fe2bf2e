"""`magicbyte ui --pipelines`: the page knows nobody, so the registry behind it says who may see metrics."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from tests.ui.kit.pipelines import running_pipeline
from tests.ui.kit.upstream import Upstream, upstream
from tests.ui.test_ui_command import running_ui


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[httpx.Client, Upstream]]:
    folder = tmp_path_factory.mktemp("ui")
    with ExitStack() as stack:
        pipeline = stack.enter_context(running_pipeline(folder))
        pipeline.batch(7)
        registry = stack.enter_context(upstream())
        http = stack.enter_context(running_ui(folder, registry.url, "--pipelines", pipeline.url))
        yield http, registry


@pytest.mark.parametrize(
    ("status", "answered"),
    [
        (200, 200),
        # Signed in, with few rights.
        (403, 200),
        (404, 200),
        (401, 401),
    ],
)
def test_the_registry_says_who_has_signed_in(
    servers: tuple[httpx.Client, Upstream], status: int, answered: int
) -> None:
    http, registry = servers
    registry.requests, registry.status = [], status
    registry.headers = {"Content-Type": "application/json", "WWW-Authenticate": 'Basic realm="r"'}
    assert http.get("/ui/config.json").json()["pipelinesConfigured"] is True
    answer = http.get("/ui/pipelines.json", headers={"Authorization": "Bearer t"})
    assert answer.status_code == answered
    (request,) = registry.requests
    assert (request.path, request.headers["authorization"]) == ("/config", "Bearer t")
    if answered == 200:
        assert [row["name"] for row in answer.json()["pipelines"]] == ["flights"]
    else:
        assert answer.headers["www-authenticate"] == 'Basic realm="r"'
        assert answer.json() == {"error_code": 401, "message": "The schema registry asks for a sign-in"}


def test_a_registry_that_does_not_answer(tmp_path: Path) -> None:
    with (
        running_pipeline(tmp_path) as pipeline,
        running_ui(tmp_path, "http://127.0.0.1:1", "--pipelines", pipeline.url) as http,
    ):
        answer = http.get("/ui/pipelines.json")
    assert (answer.status_code, answer.json()["message"]) == (502, "The schema registry cannot be reached")
