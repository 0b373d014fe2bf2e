from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path
from threading import Thread

import pyspark
import pytest

from magicbyte.kit.extras import install_line
from magicbyte.kit.failure import Failure
from magicbyte.platform import jars
from magicbyte.platform.jars import LOCKS, Jar
from magicbyte.platform.jars.lock import pyspark_jars

#: A lock file with few jars.
SPARK = "spark-4.0.0"


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_holds_versions_and_hashes_and_no_address(name: str) -> None:
    text = (Path(jars.__file__).parent / f"{name}.lock").read_text()
    line = r"[\w.-]+:[\w.-]+:[\w.-]+:[0-9a-f]{64}:[0-9]+"
    assert all(re.fullmatch(line, row) for row in text.splitlines())
    assert text.splitlines() == sorted(text.splitlines())


@pytest.mark.parametrize("version", jars.KAFKA_VERSIONS)
def test_a_brokers_lock_has_its_version_of_kafka_and_one_logger(version: str) -> None:
    locked = {jar.artifact: jar.version for jar in jars.read_lock(f"broker-{version}")}
    assert locked["kafka_2.13"] == locked["kafka-clients"] == version
    assert locked["slf4j-simple"] == locked["slf4j-api"] == "1.7.36"
    assert "kafka-tools-api" not in locked


@pytest.mark.parametrize(
    ("version", "modules"),
    [
        ("3.5.7", {"spark-avro_2.12": "3.5.7", "spark-sql-kafka-0-10_2.12": "3.5.7"}),
        ("4.0.0", {"spark-avro_2.13": "4.0.0", "spark-sql-kafka-0-10_2.13": "4.0.0"}),
        # The Kafka module of 4.1.1 fails once when a query goes on after a crash.
        ("4.1.1", {"spark-avro_2.13": "4.1.1", "spark-sql-kafka-0-10_2.13": "4.1.3"}),
    ],
)
def test_a_spark_lock_has_the_modules_of_its_version(version: str, modules: dict[str, str]) -> None:
    locked = {jar.artifact: jar.version for jar in jars.read_lock(f"spark-{version}")}
    assert modules.items() <= locked.items()
    assert jars.spark_modules(version) == tuple(f"org.apache.spark:{name}:{at}" for name, at in modules.items())


def test_the_usual_pyspark_and_kafka_have_locks() -> None:
    assert f"spark-{version('pyspark')}" in LOCKS
    assert jars.KAFKA_VERSION in jars.KAFKA_VERSIONS


@pytest.mark.parametrize("lock", [SPARK, *jars.TABLE_FORMAT_LOCKS.values(), *jars.JDBC_DRIVER_LOCKS.values()])
def test_no_locked_spark_jar_has_a_twin_in_the_pyspark_wheel(lock: str) -> None:
    bundled = {jar.stem.rpartition("-")[0] for jar in (Path(pyspark.__file__).parent / "jars").glob("*.jar")}
    assert {jar.artifact for jar in jars.read_lock(lock)} & bundled == set()


@pytest.mark.parametrize(
    ("lock", "locked"),
    [
        ("delta-4.0.0-spark-4.0", {"delta-spark_2.13": "4.0.0", "delta-storage": "4.0.0"}),
        ("delta-3.3.2-spark-3.5", {"delta-spark_2.12": "3.3.2", "delta-storage": "3.3.2"}),
        (
            "delta-4.1.0-spark-4.1",
            {"delta-spark_4.1_2.13": "4.1.0", "delta-storage": "4.1.0", "unitycatalog-client": "0.4.0"},
        ),
        ("iceberg-1.10.1-spark-4.0", {"iceberg-spark-runtime-4.0_2.13": "1.10.1"}),
        ("iceberg-1.10.1-spark-3.5", {"iceberg-spark-runtime-3.5_2.12": "1.10.1"}),
        ("iceberg-1.11.0-spark-4.1", {"iceberg-spark-runtime-4.1_2.13": "1.11.0"}),
    ],
)
def test_a_table_format_has_its_own_lock(lock: str, locked: dict[str, str]) -> None:
    assert {jar.artifact: jar.version for jar in jars.read_lock(lock)} == locked


@pytest.mark.parametrize(
    ("lock", "locked"),
    [
        ("jdbc.postgresql-42.7.8", {"postgresql": "42.7.8"}),
        ("jdbc.sqlite-3.50.3.0", {"sqlite-jdbc": "3.50.3.0"}),
    ],
)
def test_a_jdbc_driver_has_its_own_lock(lock: str, locked: dict[str, str]) -> None:
    assert {jar.artifact: jar.version for jar in jars.read_lock(lock)} == locked


def test_a_table_format_is_for_the_line_of_spark() -> None:
    assert jars.table_format_modules(["delta", "delta"], "4.0.0") == ("io.delta:delta-spark_2.13:4.0.0",)
    assert jars.table_format_modules(["iceberg", "delta"], "4.1.1") == (
        "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0",
        "io.delta:delta-spark_4.1_2.13:4.1.0",
    )
    assert jars.table_format_modules([], "4.3.0") == ()
    with pytest.raises(Failure) as error:
        jars.table_format_modules(["delta", "iceberg"], "4.3.0")
    assert str(error.value) == (
        "Delta and Iceberg tables need PySpark 3.5, 4.0 or 4.1, and 4.3.0 is installed: " + install_line(["spark41"])
    )


@pytest.mark.parametrize("name", [f"broker-{jars.KAFKA_VERSION}", SPARK])
def test_the_cache_has_the_locked_jars(name: str) -> None:
    jars.paths(name)
    assert jars.verify(name) == []


class Repository:
    """A Maven repository on the loopback with the jars of Spark's lock, and a user whose settings name it."""

    def __init__(self, folder: Path) -> None:
        self.files = folder / "repository"
        self.cache = folder / "cache"
        self.home = folder / "home"
        for jar, file in zip(jars.read_lock(SPARK), jars.paths(SPARK), strict=True):
            place = self.files / jar.group.replace(".", "/") / jar.artifact / jar.version
            place.mkdir(parents=True)
            shutil.copy(file, place / f"{jar.artifact}-{jar.version}.jar")
        handler = partial(_Quiet, directory=self.files)
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        (self.home / ".config").mkdir(parents=True)
        (self.home / ".config" / "jgo.conf").write_text(
            f"[repositories]\nmirror = http://127.0.0.1:{self.server.server_port}\n"
        )
        Thread(target=self.server.serve_forever, args=(0.01,)).start()

    def fetch(self, command: str = "fetch") -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"HOME": str(self.home), "MAGICBYTE_CACHE": str(self.cache)}
        return subprocess.run(
            [sys.executable, "-m", "magicbyte.platform.jars", command, SPARK],
            capture_output=True,
            text=True,
            env=environment,
            check=False,
        )

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[Repository]:
    repository = Repository(tmp_path)
    yield repository
    repository.stop()


def test_jars_are_fetched_once_with_a_progress_bar_and_then_offline(repository: Repository) -> None:
    first = repository.fetch()
    repository.stop()
    second = repository.fetch()
    assert (first.returncode, first.stdout) == (0, "")
    assert "jars for Spark 4.0.0: 100%" in first.stderr
    assert (second.returncode, second.stdout, second.stderr) == (0, "", "")
    kept = sorted(hashlib.sha256(file.read_bytes()).hexdigest() for file in (repository.cache / "jars").iterdir())
    assert kept == sorted(jar.sha256 for jar in jars.read_lock(SPARK))


def test_a_jar_that_is_not_the_one_locked_is_refused(repository: Repository) -> None:
    place = next(repository.files.rglob("spark-avro*.jar"))
    place.write_bytes(place.read_bytes()[:-1] + b"!")
    result = repository.fetch()
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1] == (
        "magicbyte: 1 of 5 jars for Spark 4.0.0 could not be fetched from Maven Central"
        " (org.apache.spark:spark-avro_2.13:4.0.0: the file fetched is not the one that was locked"
        " (SHA-256 or size differs)); with network access they are fetched once and kept in"
        f" {repository.cache / 'jars'}"
    )


def test_without_a_network_one_line_counts_the_missing_jars(repository: Repository) -> None:
    repository.stop()
    result = repository.fetch()
    assert result.returncode == 1
    last = result.stderr.splitlines()[-1]
    assert last.startswith("magicbyte: 5 of 5 jars for Spark 4.0.0 could not be fetched from Maven Central (")
    assert "Connection refused" in last
    assert "Traceback" not in result.stderr


def test_verify_replaces_damaged_jars_in_the_cache(repository: Repository) -> None:
    repository.fetch()
    damaged = next((repository.cache / "jars").glob("kafka-clients*"))
    damaged.write_bytes(bytes(damaged.stat().st_size))
    assert repository.fetch("verify").stderr.splitlines()[0] == (
        "magicbyte: spark-4.0.0: org.apache.kafka:kafka-clients:3.9.0 was missing or damaged"
    )
    assert repository.fetch("verify").stderr == ""


def test_the_error_for_a_missing_lock_file_lists_the_lock_files() -> None:
    command = [sys.executable, "-m", "magicbyte.platform.jars", "fetch", "spark"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (2, "")
    assert "there is no lock file spark, only broker-3.9.2, " in result.stderr


def test_the_spark_lock_is_made_beside_its_own_pyspark() -> None:
    with pytest.raises(Failure) as failure:
        pyspark_jars("3.5.7")
    assert str(failure.value) == (
        f"the lock of Spark 3.5.7 is made beside PySpark 3.5.7, and {version('pyspark')} is installed"
    )


def test_a_jar_cut_short_in_the_cache_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAGICBYTE_CACHE", str(tmp_path))
    jar = Jar("group", "artifact", "1", hashlib.sha256(b"jar").hexdigest(), 3)
    jar.path.parent.mkdir()
    jar.path.write_bytes(b"ja")
    assert not jar.is_cached()
    jar.path.write_bytes(b"jar")
    assert jar.is_cached()


def test_one_line_says_that_the_cache_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = subprocess.run(
        [sys.executable, "-m", "magicbyte.platform.jars", "fetch", SPARK],
        capture_output=True,
        text=True,
        env=os.environ | {"MAGICBYTE_CACHE": str(tmp_path / "file")},
        check=False,
    )
    assert (result.returncode, result.stdout, result.stderr) == (
        1,
        "",
        f"magicbyte: the jars for Spark 4.0.0 cannot be kept in {tmp_path / 'file' / 'jars'}: Not a directory\n",
    )
