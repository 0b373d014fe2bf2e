"""Registries of other vendors as targets: ours behind a gate that hides its extensions, and refuses or changes more."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from magicbyte.kit.failure import Failure
from magicbyte.operations.registry_end import RegistryEnd
from magicbyte.operations.restore.plan import Plan
from magicbyte.operations.restore.restoring import Options, Refused, Restored, restore
from magicbyte.operations.restore.targets.other_registry import OtherRegistry
from magicbyte.operations.sources.opening import Properties, open_source
from magicbyte.operations.state import State
from magicbyte.testing import running_registry
from tests.operations.restore.conftest import state_at
from tests.operations.restore.made_registry import LINES, made_state, record

#: What a gate does to a request: an answer instead of the registry's, or None.
Rule = Callable[[str, str, Any], tuple[int, Any] | None]
_GONE = (404, {"error_code": 404, "message": "HTTP 404 Not Found"})
_ALL = frozenset({"marks", "contexts"})


def _hides_extensions(_method: str, path: str, _body: Any) -> tuple[int, Any] | None:
    if path.startswith(("/export", "/import")):
        return _GONE
    if path == "/v1/metadata/version":
        return 200, {"version": "7.9.0", "commitId": "x"}
    return None


def _is_old(method: str, path: str, body: Any) -> tuple[int, Any] | None:
    return _GONE if path.startswith(("/contexts", "/v1/metadata")) else _hides_extensions(method, path, body)


@contextmanager
def _gate(url: str, rule: Rule) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _do(self) -> None:
            content = self.rfile.read(int(self.headers.get("content-length") or 0))
            instead = rule(self.command, self.path, json.loads(content) if content else None)
            if instead is None:
                headers = {"content-type": self.headers.get("content-type", "application/json")}
                answer = httpx.request(self.command, url + self.path, content=content, headers=headers)
                status, body = answer.status_code, answer.content
            else:
                status, body = instead[0], json.dumps(instead[1]).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PUT = do_DELETE = _do  # noqa: N815  the library's names

        def log_message(self, *_: Any) -> None:
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def registry() -> Iterator[str]:
    with running_registry() as server:
        yield server.url


def _restore(file: Path, registry: str, rule: Rule, accepted: frozenset[str] = frozenset()) -> Restored:
    properties = Properties()
    with ExitStack() as stack:
        url = stack.enter_context(_gate(registry, rule))
        source = stack.enter_context(open_source(str(file), properties))
        end = RegistryEnd(url, {"max.retries": "0"})
        target = stack.enter_context(OtherRegistry(end, open_source(registry, properties)))
        return restore(source, target, Options(accepted=accepted), lambda _: None)


def test_all_but_the_listed_losses_is_restored(registry: str, logical: Path) -> None:
    with pytest.raises(Refused) as refused:
        _restore(logical, registry, _hides_extensions)
    assert str(refused.value).endswith(
        "cannot hold all of the backup; nothing is written\n"
        "  it gives the ids of deleted schemas again: the highest ids were 40 in ., 5 in .eu\n"
        "  it has no contexts without schemas, or none at all: .empty, .gone, 0 versions\n"
        "--accept marks,contexts restores the rest."
    )
    assert state_at(registry) == State.of_lines([])
    restored = _restore(logical, registry, _hides_extensions, _ALL)
    assert restored.comparison is not None
    assert [one.sentence for one in restored.comparison.differences if one.kind.ignored_by != "ts"] == []
    after = state_at(registry)
    made = made_state()
    assert {place: (one.schema_id, one.kept, one.deleted) for place, one in after.versions.items()} == {
        place: (one.schema_id, one.kept, one.deleted) for place, one in made.versions.items()
    }
    assert (after.configs, after.modes) == (made.configs, made.modes)


def test_an_old_registry_gets_the_supported_part_of_a_backup(registry: str, logical: Path) -> None:
    accepted = _ALL | {"metadata", "rules", "settings"}
    restored = _restore(logical, registry, _is_old, accepted)
    assert [loss.kind for loss in restored.losses] == ["marks", "contexts", "metadata", "rules", "settings"]
    assert restored.losses[1].sentence.endswith(".empty, .eu, .gone, 2 versions")
    after = state_at(registry)
    assert {subject for subject, _ in after.versions if subject.startswith(":")} == set()
    assert after.versions["ruled-value", 1].content.rule_set is None
    assert after.versions["orders-value", 3].content.metadata is None


def test_modes_are_put_back_after_a_failure_and_the_rest_follows(registry: str, logical: Path) -> None:
    httpx.put(f"{registry}/mode/gone-value", json={"mode": "READWRITE"}).raise_for_status()

    def fails(method: str, path: str, body: Any) -> tuple[int, Any] | None:
        if method == "POST" and path.startswith("/subjects/payments-value") and body["id"] == 20:
            return 500, {"error_code": 50001, "message": "no space left"}
        return _hides_extensions(method, path, body)

    with pytest.raises(Failure, match="no space left"):
        _restore(logical, registry, fails, _ALL)
    assert state_at(registry).modes == {"gone-value": "READWRITE"}
    # As a kill would leave it: the deleted version is live.
    httpx.put(f"{registry}/mode/gone-value?force=true", json={"mode": "IMPORT"}).raise_for_status()
    again = {"schema": record("Gone", "int"), "id": 31, "version": 1}
    httpx.post(f"{registry}/subjects/gone-value/versions", json=again).raise_for_status()
    assert not state_at(registry).versions["gone-value", 1].deleted
    _restore(logical, registry, _hides_extensions, _ALL)
    after = state_at(registry)
    assert after.modes == made_state().modes
    assert after.versions["gone-value", 1].deleted
    assert after.versions.keys() == made_state().versions.keys()


@pytest.mark.parametrize(
    ("method", "path", "instead", "text"),
    [
        ("GET", "/mode", _GONE, "it has no modes, so ids cannot be kept: GET /mode: HTTP 404 Not Found"),
        ("PUT", "/mode/", (422, {"error_code": 42205, "message": "no"}), "does not accept IMPORT mode for"),
        ("POST", "/subjects/", (200, {"id": 1000}), "has given id 1000 instead of"),
    ],
)
def test_a_registry_that_does_not_keep_ids_is_refused(
    method: str, path: str, instead: tuple[int, Any], text: str, registry: str, logical: Path
) -> None:
    registered: list[str] = []

    def rule(of: str, at: str, body: Any) -> tuple[int, Any] | None:
        if of == "POST" and at.startswith("/subjects/"):
            registered.append(at)
        return instead if of == method and at.startswith(path) else _hides_extensions(of, at, body)

    with pytest.raises(Failure, match=text):
        _restore(logical, registry, rule, _ALL)
    assert len(registered) == (method == "POST"), "only one is tried"
    state = state_at(registry)
    assert (state.versions, state.modes) == ({}, {})


def test_an_interruption_ends_import_mode(registry: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(OtherRegistry, "_register", interrupted)
    target = OtherRegistry(RegistryEnd(registry, {}), open_source(registry, Properties()))
    with target:
        target.state()
        with pytest.raises(KeyboardInterrupt):
            target.write(Plan(State.of_lines(LINES)), lambda _: None)
    assert state_at(registry).modes == {}
