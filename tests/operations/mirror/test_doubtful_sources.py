"""A source that is lost, set back, or something else: the standby is not emptied."""

from __future__ import annotations

from pathlib import Path

import pytest

from magicbyte.kit.failure import Failure
from magicbyte.kit.plural import plural
from magicbyte.operations.failures import Unreachable
from magicbyte.operations.mirror.mirroring import Options
from magicbyte.operations.mirror.naming import Naming
from magicbyte.operations.restore.targets.log_records import records_of_state
from magicbyte.operations.sources.opening import Properties, open_source
from magicbyte.operations.state import State
from magicbyte.testing import running_registry
from registry.log.port import BEGINNING, Record
from registry.log.sql import SqlLog
from tests.operations.mirror.conftest import Api, Front, lacks, mirror, mirror_once, until

Pair = tuple[Api, Api]
_NO_REGISTRY = lacks("/")
_OF_A_VENDOR = lacks("/export", "/events")


def _kept(target: Api, root: str) -> set[str]:
    """The subjects of a context of the target."""
    return {name.removeprefix(f":{root}:") for name, _ in target.state().versions if name.startswith(f":{root}:")}


def test_a_server_that_answers_404_is_no_empty_registry(shared: Pair, front: Front) -> None:
    source, target = shared
    options = Options(Naming(".gone"))
    source.register("gone", '"int"')
    mirror_once(front.url, target.url, options)
    kept = _kept(target, ".gone")
    assert "gone" in kept
    front.refuse = _NO_REGISTRY
    with pytest.raises(Unreachable, match="has no /subjects"):
        mirror_once(front.url, target.url, options)
    with pytest.raises(Unreachable, match="has no /subjects"), open_source(front.url, Properties()) as opened:
        opened.read()
    # Something with subjects of its own: not the registry that was followed.
    front.refuse = _OF_A_VENDOR
    with pytest.raises(Unreachable, match="had a change feed, and has none now"):
        mirror_once(front.url, target.url, options)
    assert _kept(target, ".gone") == kept
    mirror_once(front.url, target.url, Options(Naming(".gone"), adopt=True))
    assert _kept(target, ".gone") == kept


def test_a_mirror_waits_while_something_else_answers(shared: Pair, front: Front) -> None:
    source, target = shared
    with mirror(front.url, target.url, Options(Naming(".waits")), compare_seconds=0.0) as running:
        running.until_told("is what")
        front.refuse = _NO_REGISTRY
        running.until_told("waiting: ")
        front.refuse = lambda _: None
        running.until_told("both registries answer again")
        source.register("afterwards", '"int"')
        until(lambda: "afterwards" in _kept(target, ".waits"), "the change arrives")
        assert not running.failed


def _log(file: Path, count: int) -> str:
    """A database with so many subjects."""
    url = f"sqlite:///{file}"
    texts = [f'{{"type":"fixed","name":"F{number}","size":1}}' for number in range(count)]
    lines = [{"subject": f"s{id_}", "version": 1, "id": id_ + 1, "schema": text} for id_, text in enumerate(texts)]
    log = SqlLog(url)
    if lines:
        made = records_of_state(State.of_lines(lines))
        log.append([Record(one.key or b"", one.value, one.timestamp) for one in made], BEGINNING)
    log.close()
    return url


@pytest.mark.parametrize("left", [2, 0])
def test_a_polled_source_that_was_set_back_does_not_empty_the_target(shared: Pair, tmp_path: Path, left: int) -> None:
    _, target = shared
    options, root = Options(Naming(f".left{left}")), f".left{left}"
    url = _log(tmp_path / "log.db", 3)
    mirror_once(url, target.url, options)
    for file in tmp_path.iterdir():
        file.unlink()
    assert _log(tmp_path / "log.db", left) == url
    with mirror(url, target.url, options) as running:
        assert f"has {plural(3 - left, 'version')} that" in running.until_failed()
        running.until_told("the source was set back: it ends at offset")
    with pytest.raises(Failure, match="pass --adopt"):
        mirror_once(url, target.url, options)
    assert _kept(target, root) == {"s0", "s1", "s2"}
    mirror_once(url, target.url, Options(Naming(root), adopt=True))
    assert _kept(target, root) == {f"s{number}" for number in range(left)}


def test_a_polled_registry_without_schemas_does_not_empty_the_target(shared: Pair, front: Front) -> None:
    source, target = shared
    source.register("emptied", '"int"')
    options = Options(Naming(".emptied"))
    front.refuse = _OF_A_VENDOR
    mirror_once(front.url, target.url, options)
    kept = _kept(target, ".emptied")
    with running_registry("memory:") as empty:
        front.registry = empty.url
        with pytest.raises(Failure, match="pass --adopt"):
            mirror_once(front.url, target.url, options)
    assert _kept(target, ".emptied") == kept


def test_the_mirror_waits_for_a_refused_feed_or_ends(shared: Pair, front: Front) -> None:
    source, target = shared
    front.refuse = lambda path: 429 if path.startswith("/events") else None
    with mirror(front.url, target.url, Options(Naming(".busy"))) as running:
        running.until_told("waiting: ")
        front.refuse = lambda _: None
        running.until_told("both registries answer again")
        source.register("after-busy", '"int"')
        until(lambda: "after-busy" in _kept(target, ".busy"), "the change arrives")
        assert not running.failed
    for status, told in ((403, "refuses the client"), (400, "refuses the mirror")):
        front.refuse = lambda path, status=status: status if path.startswith("/events") else None  # type: ignore[misc]
        with mirror(front.url, target.url, Options(Naming(".busy"), adopt=True)) as running:
            assert told in running.until_failed()
            assert isinstance(running.failed[0], Failure)


@pytest.mark.parametrize("status", [404, 405, 501])
def test_the_mirror_recognizes_each_way_to_lack_an_export(shared: Pair, front: Front, status: int) -> None:
    _, target = shared
    front.refuse = lambda path: status if path.startswith(("/export", "/events")) else None
    mirror_once(front.url, target.url, Options(Naming(f".lacks{status}")))
    assert _kept(target, f".lacks{status}") != set()


@pytest.mark.slow
def test_the_mirror_notices_a_source_that_was_set_back_and_has_grown_since(shared: Pair, tmp_path: Path) -> None:
    _, target = shared
    options, log = Options(Naming(".grown")), tmp_path / "log.db"
    with running_registry(f"sqlite:///{log}") as server:
        source = Api(server.url)
        source.register("kept", '"int"')
    before, port = log.read_bytes(), int(server.url.rpartition(":")[2])
    with running_registry(f"sqlite:///{log}", port=port):
        source.register("lost", '"long"')
        # No change is followed one by one: each run is a full sync.
        for _ in range(2):
            mirror_once(source.url, target.url, options)
    for file in tmp_path.iterdir():
        file.unlink()
    log.write_bytes(before)
    with running_registry(f"sqlite:///{log}", port=port):
        for number in range(3):
            source.register(f"new-{number}", '"int"')
        with pytest.raises(Failure, match=r"lost version 1|conflict"):
            mirror_once(source.url, target.url, options)
    assert _kept(target, ".grown") == {"kept", "lost"}
