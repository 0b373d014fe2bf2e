"""The note of a run's failure in its checkpoint: who writes it, and that its own errors change nothing."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_avro.pipeline.folder import Folder
from spark_avro.pipeline.local_folder import LocalFolder
from spark_avro.pipeline.run.last_failure import LastFailure, noted_failure
from spark_avro.pipeline.run.lease import FILE, Lease, LeaseHeld

NOTE = "_magicbyte/failure.json"
EARLIER = '{"time": "2026-01-01T10:00:00Z", "reason": "an earlier one"}'


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        (EARLIER, LastFailure("2026-01-01T10:00:00Z", "an earlier one")),
        (None, None),
        ("", None),
        ("no JSON", None),
        ("null", None),
        ("[1]", None),
        ('{"time": "2026-01-01T10:00:00Z"}', None),
        ('{"time": 1, "reason": "x"}', None),
        ('{"time": "2026-01-01T10:00:00Z", "reason": null}', None),
    ],
)
def test_a_note_has_two_texts(text: str | None, failure: LastFailure | None, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "_magicbyte").mkdir()
        (tmp_path / NOTE).write_text(text)
    assert LastFailure.read(LocalFolder(str(tmp_path))) == failure


def _run(fails: bool) -> None:
    if fails:
        raise ValueError("new\nstack")


@pytest.mark.parametrize(
    ("fails", "is_owner", "reason"),
    [(False, True, None), (False, False, "an earlier one"), (True, True, "new"), (True, False, "an earlier one")],
)
def test_only_the_owner_of_the_lease_changes_the_note(
    fails: bool, is_owner: bool, reason: str | None, spark: SparkSession, tmp_path: Path
) -> None:
    folder = Folder(spark, str(tmp_path))
    folder.replace(NOTE, EARLIER)
    with suppress(ValueError), noted_failure(folder, lambda: is_owner):
        _run(fails)
    failure = LastFailure.read(folder)
    assert (None if failure is None else failure.reason) == reason


def test_a_driver_that_lost_its_lease_notes_nothing(spark: SparkSession, tmp_path: Path) -> None:
    folder = Folder(spark, str(tmp_path))
    with Lease(folder, "flights", beat=0.05) as lease:
        folder.replace(FILE, json.dumps({"id": "other", "host": "elsewhere", "pid": 1, "beats": 7}))
        # The thread ends when it sees the other owner.
        lease._thread.join(60)
        with pytest.raises(LeaseHeld), noted_failure(folder, lease.is_ours):
            lease.check()
    assert folder.read(NOTE) is None


@pytest.mark.parametrize("method", ["exists", "delete"])
def test_a_run_ends_well_although_the_old_note_stays(
    method: str, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    folder = Folder(spark, str(tmp_path))
    folder.replace(NOTE, EARLIER)

    def fail(*_: object) -> None:
        raise OSError("the store is away")

    monkeypatch.setattr(Folder, method, fail)
    with noted_failure(folder, lambda: True):
        pass
    assert caplog.messages == [
        "the checkpoint does not have the outcome of the run (_magicbyte/failure.json): the store is away"
    ]


def test_the_error_of_a_run_stays_although_the_note_cannot_be_written(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "_magicbyte").write_text("no folder")
    with pytest.raises(ValueError, match="the run's own"), noted_failure(Folder(spark, str(tmp_path)), lambda: True):
        raise ValueError("the run's own")
