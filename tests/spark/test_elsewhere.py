from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark
import pytest

from magicbyte.platform.broker import free_port
from magicbyte.platform.java import find_spark_java

# Servers of Spark's own.
pytestmark = pytest.mark.slow

HERE = Path(__file__).parent


def run(script: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, HERE / script, *arguments], capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip().splitlines()[-1]


def test_over_spark_connect(avro: Any) -> None:
    assert run("on_connect.py", avro.url) == str(
        [(5, 5, None, True, True), (None, None, "malformed payload", True, False), (None, None, None, False, False)]
    )


@contextmanager
def java(*arguments: str, folder: Path) -> Iterator[None]:
    home = Path(pyspark.__file__).parent
    fast = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
    command = [find_spark_java().executable, *fast, "-cp", f"{home}/jars/*", *arguments]
    environment = {**os.environ, "SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable}
    # Without its scripts, Spark asks this instead of looking at a build.
    environment |= {"JAVA_HOME": str(find_spark_java().home), "SPARK_SCALA_VERSION": "2.13"}
    with (folder / f"{arguments[0]}.log").open("ab") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=folder)
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)


@pytest.fixture
def master(tmp_path: Path) -> Iterator[str]:
    """A standalone master with two workers of one core each."""
    port, ui = free_port(), free_port()
    url = f"spark://127.0.0.1:{port}"
    deploy = "org.apache.spark.deploy"
    listen = ("--host", "127.0.0.1")
    worker = (
        f"{deploy}.worker.Worker",
        *listen,
        "--cores",
        "1",
        "--memory",
        "600m",
        "--work-dir",
        str(tmp_path / "work"),
    )
    with (
        java(f"{deploy}.master.Master", *listen, "--port", str(port), "--webui-port", str(ui), folder=tmp_path),
        java(*worker, "--webui-port", str(free_port()), url, folder=tmp_path),
        java(*worker, "--webui-port", str(free_port()), url, folder=tmp_path),
    ):
        deadline = time.monotonic() + 60
        while alive(ui) < 2:
            assert time.monotonic() < deadline, "the workers do not come"
            time.sleep(0.3)
        yield url


def alive(ui: int) -> int:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{ui}/json/", timeout=2) as answer:
            return json.load(answer)["aliveworkers"]
    except OSError:
        return 0


def test_on_a_master_with_two_workers(avro: Any, master: str) -> None:
    assert run("on_cluster.py", avro.url, master) == str(([4950, 4950], 2))
