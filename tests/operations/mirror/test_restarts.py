"""A mirror goes on from its mark; if it cannot, it notices, and nothing is lost or overwritten."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from magicbyte.kit.failure import Failure
from magicbyte.operations.mirror.mirroring import Options
from magicbyte.operations.mirror.naming import Naming
from magicbyte.testing import running_registry
from tests.operations.mirror.conftest import Api, differences, mirror, mirror_once, until, until_equal

Pair = tuple[Api, Api]


#: Each test starts registries of its own.
pytestmark = pytest.mark.slow


def test_a_mirror_goes_on_from_its_mark(registries: Pair) -> None:
    source, target = registries
    source.register("a", '"int"')
    with mirror(source.url, target.url) as running:
        running.until_told("is what")
        source.register("b", '"int"')
        until_equal(source, target)
    source.register("c", '"long"')
    source("DELETE", "/subjects/a")
    with mirror(source.url, target.url) as running:
        until_equal(source, target)
        running.until_told("following")
        assert running.mirroring.metrics.full_syncs == 0


def test_a_full_sync_mirrors_settings_of_contexts_without_schemas(registries: Pair) -> None:
    source, target = registries
    for path in ("/config/:.empty:", "/config/:.__GLOBAL:"):
        source("PUT", path, {"compatibility": "FULL"})
    mirror_once(source.url, target.url)
    assert set(target.state().configs) == {":.empty:", ":.__GLOBAL:"}
    source("DELETE", "/config/:.empty:")
    source("DELETE", "/config/:.__GLOBAL:")
    mirror_once(source.url, target.url)
    assert target.state().configs == {}


def test_a_killed_mirror_is_started_again(registries: Pair) -> None:
    source, target = registries
    command = [sys.executable, "-P", "-m", "magicbyte.cli.main", "mirror", "--from", source.url, "--to", target.url]
    for number in range(2):
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
            source.register(f"while-{number}", '"int"')
            until(lambda number=number: f"while-{number}" in dict(target.state().versions.keys()), "the change arrives")  # type: ignore[misc]
            for more in range(5):
                source.register(f"many-{number}-{more}", '"int"')
            process.send_signal(signal.SIGKILL)
    mirror_once(source.url, target.url)
    assert differences(source, target) == []


def test_a_second_mirror_takes_over_from_the_first(registries: Pair) -> None:
    source, target = registries
    with mirror(source.url, target.url) as first:
        first.until_told("is what")
        mirror_once(source.url, target.url)
        source.register("a", '"int"')
        assert "another mirror or a promotion took over" in first.until_failed()
    assert target.state().versions == {}


def test_the_mirror_reports_a_replaced_source_log_and_deletes_nothing(registries: Pair) -> None:
    source, target = registries
    source.register("a", '"int"')
    mirror_once(source.url, target.url)
    with running_registry("memory:") as other:
        # Under the same name: the mark remembers the log.
        empty = Api(other.url)
        options = Options()
        with mirror(empty.url, target.url, options) as running:
            assert "is mirrored from" in running.until_failed()
        with pytest.raises(Failure, match="--adopt"):
            mirror_once(empty.url, target.url)
        mirror_once(empty.url, target.url, Options(adopt=True))
        assert target.state().versions == {}


def test_a_source_that_was_restarted_empty_does_not_empty_the_target(registries: Pair) -> None:
    _, target = registries
    with running_registry("memory:") as first:
        source = Api(first.url)
        source.register("a", '"int"')
        port = int(first.url.rpartition(":")[2])
        with mirror(source.url, target.url) as running:
            running.until_told("is what")
            first.kill()
            running.until_told("waiting: ")
            with running_registry("memory:", port=port):
                said = running.until_failed()
    assert "has 1 version that" in said
    assert "a version 1 (id 1)" in said
    assert any("the log of the source was replaced" in line for line in running.told)
    assert ("a", 1) in target.state().versions


def test_the_mirror_reports_a_source_that_was_set_back(tmp_path: Path, registries: Pair) -> None:
    _, target = registries
    log = tmp_path / "log.db"
    with running_registry(f"sqlite:///{log}") as first:
        source = Api(first.url)
        source.register("a", '"int"')
    before = log.read_bytes()
    port = int(first.url.rpartition(":")[2])
    with running_registry(f"sqlite:///{log}", port=port), mirror(source.url, target.url) as running:
        running.until_told("is what")
        source.register("b", '"long"')
        until_equal(source, target)
    for file in tmp_path.iterdir():
        file.unlink()
    log.write_bytes(before)
    with running_registry(f"sqlite:///{log}", port=port):
        # Another change at the same offset.
        source.register("c", '"double"')
        with mirror(source.url, target.url) as running:
            said = running.until_failed()
        assert "the log of the source was" in " ".join(running.told)
        assert "b version 1 (id 2)" in said or "conflict" in said
        with pytest.raises(Failure, match=r"conflict|lacks"):
            mirror_once(source.url, target.url)
    assert ("b", 1) in target.state().versions


def test_a_conflict_stops_the_mirror_and_nothing_is_written(registries: Pair) -> None:
    source, target = registries
    source.register("a", '"int"')
    source.register("b", '"long"')
    target.register("a", '"string"')
    with pytest.raises(Failure, match=r"with --no-deletes it cannot be replaced") as said:
        mirror_once(source.url, target.url, Options(deletes=False))
    assert "nothing is written" in str(said.value)
    assert set(target.state().versions) == {("a", 1)}


def test_the_mirror_waits_for_an_unreachable_source_or_target() -> None:
    with running_registry("memory:") as left, running_registry("memory:") as right:
        source, port = Api(left.url), int(right.url.rpartition(":")[2])
        source.register("a", '"int"')
        with mirror(source.url, right.url) as running:
            running.until_told("is what")
            right.kill()
            source.register("b", '"long"')
            running.until_told("waiting: ")
            with running_registry("memory:", port=port) as again:
                # A new registry has no mark and another epoch: the mirror does not take it for the old one.
                assert "took over" in running.until_failed() or "taken over" in running.until_failed()
                mirror_once(source.url, again.url)
                assert differences(source, Api(again.url)) == []
            assert sum("waiting" in line for line in running.told) == 1


@pytest.mark.parametrize(
    ("naming", "source_subjects", "target_subjects"),
    [
        (Naming(".dr"), ["a", ":.x:b"], {":.dr:a", ":.dr.x:b"}),
        (Naming(rename="dc1-${subject}"), ["a", ":.x:b"], {"dc1-a", ":.x:dc1-b"}),
        (Naming(patterns=("a*", ":.x:*")), ["a", "ab", "c", ":.x:b", ":.y:a"], {"a", "ab", ":.x:b"}),
        (Naming(patterns=(":*:a",)), ["a", "ab", ":.y:a"], {"a", ":.y:a"}),
    ],
)
def test_subjects_are_mirrored_under_other_names(
    registries: Pair, naming: Naming, source_subjects: list[str], target_subjects: set[str]
) -> None:
    source, target = registries
    half = len(source_subjects) // 2
    for subject in source_subjects[:half]:
        source.register(subject, '"int"')
    with mirror(source.url, target.url, Options(naming)) as running:
        running.until_told("is what")
        for subject in source_subjects[half:]:
            source.register(subject, '"int"')
        until(lambda: {name for name, _ in target.state().versions} == target_subjects, "the subjects arrive")
        source("DELETE", f"/subjects/{source_subjects[0]}")
        until(lambda: any(one.deleted for one in target.state().versions.values()), "the deletion arrives")
    mirror_once(source.url, target.url, Options(naming))
    assert {name for name, _ in target.state().versions} == target_subjects


def test_the_mirror_also_copies_references_of_the_chosen_subjects(registries: Pair) -> None:
    source, target = registries
    options = Options(Naming(patterns=("orders",)))
    record = '{"type":"record","name":"%s","fields":[%s]}'
    with mirror(source.url, target.url, options) as running:
        running.until_told("is what")
        source.register("money", record % ("Money", ""))
        source.register("other", '"int"')
        reference = [{"name": "Money", "subject": "money", "version": 1}]
        source.register("orders", record % ("Order", '{"name":"m","type":"Money"}'), references=reference)
        until(lambda: {name for name, _ in target.state().versions} == {"money", "orders"}, "both arrive")
        source("PUT", "/config/money", {"compatibility": "FULL"})
        until(lambda: "money" in target.state().configs, "the config arrives")
    with pytest.raises(Failure, match="orders version 1: references name subjects"):
        mirror_once(source.url, target.url, Options(Naming(rename="x-${subject}"), adopt=True))


def test_without_deletes_the_target_keeps_deleted_versions(registries: Pair) -> None:
    source, target = registries
    source.register("a", '"int"')
    source.register("b", '"long"')
    options = Options(deletes=False)
    mirror_once(source.url, target.url, options)
    source("DELETE", "/subjects/a")
    source("DELETE", "/subjects/b")
    source("DELETE", "/subjects/b?permanent=true")
    source.register("c", '"double"')
    mirror_once(source.url, target.url, options)
    assert {key: one.deleted for key, one in target.state().versions.items()} == {
        ("a", 1): False, ("b", 1): False, ("c", 1): False,
    }  # fmt: skip


def test_a_source_without_a_feed_is_read_again_and_again(tmp_path: Path, registries: Pair) -> None:
    _, target = registries
    with running_registry(f"sqlite:///{tmp_path / 'log.db'}") as server:
        source = Api(server.url)
        source.register("a", '"int"')
        with mirror(f"sqlite:///{tmp_path / 'log.db'}", target.url, poll_seconds=0.1) as running:
            running.until_told("no change feed")
            until_equal(source, target)
            source.register("b", '"long"')
            source("DELETE", "/subjects/a")
            until_equal(source, target)
