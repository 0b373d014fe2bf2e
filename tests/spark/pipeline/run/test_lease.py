from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_avro.pipeline.folder import Folder
from spark_avro.pipeline.run.lease import FILE, Lease, LeaseHeld


def test_a_second_driver_is_refused_while_the_first_lives(spark: SparkSession, tmp_path: Path) -> None:
    folder = Folder(spark, str(tmp_path))
    with Lease(folder, "flights", beat=0.05) as first:
        with pytest.raises(
            LeaseHeld, match=f"pipeline flights is run by process {os.getpid()} on {socket.gethostname()}"
        ):
            Lease(folder, "flights", beat=0.05).__enter__()
        first.check()
    assert folder.read(FILE) is None
    with Lease(folder, "flights", beat=0.05):
        pass


def _owner(folder: Folder, pid: int, host: str) -> None:
    folder.replace(FILE, json.dumps({"id": "other", "host": host, "pid": pid, "beats": 7}))


def test_the_lease_of_a_killed_process_is_taken_at_once(spark: SparkSession, tmp_path: Path) -> None:
    folder = Folder(spark, str(tmp_path))
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    _owner(folder, gone.pid, socket.gethostname())
    with Lease(folder, "flights", gone=3600) as lease:
        lease.check()


def test_the_lease_of_another_host_is_taken_when_it_gives_no_sign(spark: SparkSession, tmp_path: Path) -> None:
    folder = Folder(spark, str(tmp_path))
    _owner(folder, 1, "elsewhere")
    with Lease(folder, "flights", beat=0.05, gone=0.3):
        assert "elsewhere" not in str(folder.read(FILE))


def test_an_owner_whose_lease_was_taken_over_stops_before_the_next_batch(spark: SparkSession, tmp_path: Path) -> None:
    folder = Folder(spark, str(tmp_path))
    with Lease(folder, "flights", beat=0.05) as lease:
        _owner(folder, 1, "elsewhere")
        # The thread ends when it sees the other owner.
        lease._thread.join(60)
        with pytest.raises(LeaseHeld, match="process 1 on elsewhere took over"):
            lease.check()
    assert "elsewhere" in str(folder.read(FILE))


@pytest.mark.timeout(60)
def test_a_free_lease_is_taken_without_a_wait(spark: SparkSession, tmp_path: Path) -> None:
    # It would wait for a tenth of a heartbeat.
    with Lease(Folder(spark, str(tmp_path)), "flights", beat=3600) as lease:
        lease.check()
