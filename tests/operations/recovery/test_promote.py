"""Promoting a standby: what differs forbids it, no id is given twice, and a mirror that still runs is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from magicbyte.cli.dr.main import main
from magicbyte.kit.failure import Failure
from magicbyte.operations.failures import Refused
from magicbyte.operations.mirror.mirroring import Options
from magicbyte.operations.mirror.naming import Naming
from magicbyte.operations.mirror.origin import Origin
from magicbyte.operations.mirror.target import Fenced, Target
from magicbyte.operations.recovery.promote import Promotion, promote
from magicbyte.operations.sources.opening import Properties
from magicbyte.testing import running_registry
from tests.operations.mirror.conftest import Api, differences, mirror, mirror_once, registries, until_equal

__all__ = ["registries"]
Pair = tuple[Api, Api]


#: Each test starts registries of its own.
pytestmark = pytest.mark.slow


def _promote(target: Api, source: Api | None = None, **options: object) -> Promotion:
    with Target(target.url, {}) as end:
        if source is None:
            return promote(end, None, **options)  # type: ignore[arg-type]
        with Origin(source.url, Properties()) as origin:
            return promote(end, origin, **options)  # type: ignore[arg-type]


def test_a_promoted_registry_takes_writes_above_the_gap(registries: Pair) -> None:
    source, target = registries
    source.register("a", '"int"')
    source.register(":.x:a", '"int"')
    mirror_once(source.url, target.url)
    # The source gives an id that the mirror never sees.
    lost = source.register("lost", '"double"')
    promotion = _promote(target)
    assert promotion.state == "promoted"
    assert not promotion.source_answers
    assert promotion.contexts["."] == {"source": None, "target": 1, "mark": 10_001}
    assert target.register("b", '"long"') == 10_002 > lost
    assert target.register(":.x:b", '"long"') == 10_002


def test_contexts_that_the_mirror_never_saw_begin_above_the_gap(registries: Pair) -> None:
    source, target = registries
    source.register("a", '"int"')
    mirror_once(source.url, target.url)
    lost = source.register(":.new:a", '"double"')
    assert _promote(target, id_gap=10).contexts[".__GLOBAL"] == {"source": None, "target": 0, "mark": 10}
    assert target.register(":.new:b", '"long"') == 11 > lost
    # It is so in a standby of the standby, and the next gap is added.
    with running_registry("memory:") as server:
        third = Api(server.url)
        mirror_once(target.url, third.url)
        assert differences(target, third) == []
        _promote(third, target, id_gap=5)
        assert third.register(":.newer:a", '"int"') == 16


class _Refusing:
    """A source whose registry refuses the client."""

    def read(self) -> None:
        raise Refused("http://a:8081: GET /export: 401 wrong password")


def test_a_source_that_refuses_the_client_is_alive(registries: Pair) -> None:
    source, target = registries
    source.register("a", '"int"')
    mirror_once(source.url, target.url)
    before = target.state()
    with Target(target.url, {}) as end, pytest.raises(Refused, match="wrong password"):
        promote(end, _Refusing())  # type: ignore[arg-type]
    assert target.state() == before


def test_a_mirror_that_has_read_the_epoch_of_a_promotion_is_refused(registries: Pair) -> None:
    source, target = registries
    source.register("a", '"int"')
    mirror_once(source.url, target.url)
    with Target(target.url, {}) as end:
        epoch, mark = end.read().mark(".")
        assert mark is not None
        _promote(target, id_gap=10)
        # A mirror that starts has read the mark before, and takes over after.
        for late in (epoch + 1, epoch):
            with pytest.raises(Fenced, match="another mirror or a promotion took over"):
                end.write(".", late, (), replace(mark, writer="late"))
        assert end.read().mark(".")[1].state == "promoted"  # type: ignore[union-attr]


def test_a_registry_that_was_frozen_for_all_contexts_takes_writes(registries: Pair) -> None:
    source, target = registries
    source.register("a", '"int"')
    source("PUT", "/mode/:.__GLOBAL:", {"mode": "READONLY"})
    mirror_once(source.url, target.url)
    promotion = _promote(target, source)
    assert (promotion.modes[":.:"], promotion.modes[":.__GLOBAL:"]) == ("READWRITE", "READONLY")
    target.register("b", '"long"')


def test_the_settings_of_contexts_without_versions_are_mirrored(registries: Pair) -> None:
    source, target = registries
    for name in (":.x:", ":.__GLOBAL:"):
        source("PUT", f"/config/{name}", {"compatibility": "FULL"})
    mirror_once(source.url, target.url)
    assert differences(source, target) == []
    source("DELETE", "/config/:.__GLOBAL:")
    mirror_once(source.url, target.url)
    assert differences(source, target) == []


def test_the_only_mirror_is_promoted_by_auto(registries: Pair, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = registries
    source.register("a", '"int"')
    mirror_once(source.url, target.url, Options(naming=Naming(".dc1")))
    assert main(["promote", "--to", target.url, "--context", "auto"]) == 0
    assert "context .dc1: highest id 1" in capsys.readouterr().out
    mirror_once(source.url, target.url, Options(naming=Naming(".dc2")))
    with pytest.raises(Failure, match=r"which mirror: http.*: there are mirrors of --context \.dc1, \.dc2"):
        main(["promote", "--to", target.url, "--context", "auto"])
    with pytest.raises(
        Failure, match=r"no mirror has written into context \.dc3 of .* mirrors of --context \.dc1, \.d"
    ):
        main(["promote", "--to", target.url, "--context", "dc3"])


def test_a_second_promotion_raises_nothing(registries: Pair) -> None:
    source, target = registries
    mirror_once(source.url, target.url)
    _promote(target, id_gap=10)
    target.register("a", '"int"')
    again = _promote(target, id_gap=10)
    assert again.state == "before"
    assert target.state().contexts["."].highest_id == 11


def test_a_promotion_that_was_killed_goes_on(registries: Pair) -> None:
    source, target = registries
    source.register("a", '"int"')
    mirror_once(source.url, target.url)
    with Target(target.url, {}) as end:
        write, calls = end.write, []

        def dies(root: str, epoch: int, lines: object, mark: object = None) -> None:
            calls.append(mark)
            if len(calls) == 3:
                raise ConnectionError
            write(root, epoch, lines, mark)  # type: ignore[arg-type]

        end.write = dies  # type: ignore[method-assign]
        with pytest.raises(ConnectionError):
            promote(end, None, id_gap=5)
    assert _promote(target, id_gap=5).contexts["."]["mark"] == 6
    assert target.register("b", '"long"') == 7


def test_differences_forbid_a_promotion(registries: Pair) -> None:
    source, target = registries
    source.register("a", '"int"')
    mirror_once(source.url, target.url)
    source.register("b", '"long"')
    refused = _promote(target, source)
    assert refused.state == "refused"
    assert "b version 1 with id 2 is not so in the target" in refused.differences
    with pytest.raises(AssertionError, match="42205"):
        target.register("c", '"double"')
    forced = _promote(target, source, force=True, id_gap=5)
    # The source told that it had given id 2.
    assert forced.contexts["."] == {"source": 2, "target": 1, "mark": 7}
    assert target.register("c", '"double"') == 8


def test_a_mirror_that_runs_is_refused_after_a_promotion(registries: Pair) -> None:
    source, target = registries
    with mirror(source.url, target.url) as running:
        source.register("a", '"int"')
        until_equal(source, target)
        _promote(target, source)
        source.register("late", '"long"')
        assert "took over" in running.until_failed()
    assert set(target.state().versions) == {("a", 1)}
    with pytest.raises(Failure, match="was promoted"):
        mirror_once(source.url, target.url)


@pytest.mark.parametrize(
    ("modes", "promoted"),
    [
        ({}, {None: None, ":.x:": None, "a": None}),
        ({"/mode/:.x:": "READONLY", "/mode/a": "READWRITE"}, {None: None, ":.x:": "READONLY", "a": "READWRITE"}),
        ({"/mode/a": "READONLY"}, {None: None, ":.x:": None, "a": "READONLY"}),
        # A source that was closed for the going over.
        ({"/mode": "READONLY"}, {None: "READWRITE", ":.x:": None, "a": None}),
    ],
)
def test_the_modes_of_the_source_are_set(
    registries: Pair, modes: dict[str, str], promoted: dict[str | None, str | None]
) -> None:
    source, target = registries
    source.register("a", '"int"')
    source.register(":.x:a", '"int"')
    with mirror(source.url, target.url) as running:
        running.until_told("is what")
        for path, mode in modes.items():
            source("PUT", path, {"mode": mode})
        source("PUT", "/config/marker", {"compatibility": "FULL"}) if "/mode" not in modes else None
    mirror_once(source.url, target.url)
    _promote(target, source)
    state = target.state()
    assert {name: state.modes.get(name) for name in promoted} == promoted


def test_a_failback_keeps_the_ids_above_the_gap(registries: Pair) -> None:
    source, target = registries
    source.register("a", '"int"')
    mirror_once(source.url, target.url)
    _promote(target, source, id_gap=100)
    target.register("b", '"long"')
    target("DELETE", "/subjects/a")
    with mirror(target.url, source.url) as back:
        back.until_told("is what")
        target.register("c", '"double"')
        until_equal(target, source)
    assert {key: one.schema_id for key, one in source.state().versions.items()} == {
        ("a", 1): 1, ("b", 1): 102, ("c", 1): 103,
    }  # fmt: skip
    assert _promote(source, target, id_gap=10).state == "promoted"
    assert source.register("d", '"string"') == 114
    mirror_once(source.url, target.url, Options(adopt=True))
    assert differences(source, target) == []


def test_a_registry_without_a_mirror_is_not_promoted(registries: Pair) -> None:
    _, target = registries
    with pytest.raises(Failure, match="no mirror has written"):
        _promote(target)


def test_a_context_is_promoted_alone(registries: Pair) -> None:
    source, target = registries
    source.register("a", '"int"')
    mirror_once(source.url, target.url, Options(Naming(".dr")))
    target.register("own", '"int"')
    _promote(target, source, root=".dr", id_gap=7)
    assert target.register(":.dr:b", '"long"') == 9
    assert target.register("own-2", '"long"') == 2


def test_too_large_a_gap_is_refused(registries: Pair) -> None:
    source, target = registries
    source.lines('{"subject":"a","version":1,"id":2147483647,"schema":"\\"int\\""}\n')
    mirror_once(source.url, target.url)
    with pytest.raises(Failure, match="no room for a gap"):
        _promote(target, source)
