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

import pyarrow.parquet as pq
import pyspark
import pytest

from magicbyte.platform.broker import free_port
from magicbyte.platform.java import find_spark_java

# Servers of Spark's own: a loaded machine takes minutes to start four JVMs.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]
#: Seconds that a process of a test may take.
LIMIT = 1000

HERE = Path(__file__).parent


def run(script: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, HERE / script, *arguments], capture_output=True, text=True, timeout=LIMIT, check=False
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


def test_a_pipeline_by_spark_submit_in_client_mode(master: str, topics: Any, avro: Any, tmp_path: Path) -> None:
    topic = topics.create()
    schema = json.dumps({"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]})
    [schema_id] = avro.register(f"{topic}-value", schema)
    topics.produce(topic, *(avro.message(schema_id, schema, {"a": n}) for n in range(100)))
    file = tmp_path / "pipeline.yaml"
    file.write_text(
        f"""
version: 1
name: submitted
kafka: {{bootstrap.servers: "{topics.servers}"}}
registry: {{url: "{avro.url}"}}
checkpoint: {tmp_path}/checkpoint
spark: {{spark.executor.memory: 512m, spark.executor.cores: 1, spark.driver.memory: 512m, spark.ui.enabled: false}}
source: {{topics: [{topic}]}}
steps: [{{select: ["a * 2 as b"]}}]
sink: {{files: {{path: {tmp_path}/out, partition: [dt]}}}}
"""
    )
    command = [
        sys.executable,
        "-m",
        "magicbyte.cli.main",
        "pipeline",
        "submit",
        str(file),
        "--master",
        master,
        "--exec",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip().endswith("submitted: 1 batches, 100 read, 100 written")
    written = [pq.read_table(path, partitioning=None) for path in (tmp_path / "out").rglob("*.parquet")]
    assert sorted(value for table in written for value in table.column("b").to_pylist()) == list(range(0, 200, 2))
