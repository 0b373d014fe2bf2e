"""One Spark session and one registry for all tests of this folder."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession

import spark_avro
from magicbyte.testing import running_registry
from serdes.client import RegistryClient

SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.log.level": "OFF",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # py4j leaves the sockets of its connections, and the process it starts, to the garbage collector.
    for item in items:
        if "spark" in item.path.parts:
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    folder: Path = tmp_path_factory.mktemp("spark")
    settings = {**SETTINGS, "spark.sql.warehouse.dir": str(folder / "warehouse")}
    session = spark_avro.session("tests", master="local[2]", settings=settings)
    yield session
    session.stop()
    gateway = SparkContext._gateway
    assert gateway is not None
    SparkContext._gateway = SparkContext._jvm = None
    gateway.shutdown()
    gateway.proc.stdin.close()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        del gateway, session
        gc.collect()


@pytest.fixture(scope="session")
def registry_url() -> Iterator[str]:
    with running_registry() as server:
        yield server.url


@pytest.fixture(scope="session")
def registry(registry_url: str) -> RegistryClient:
    client = RegistryClient(registry_url)
    client.put_config({"compatibility": "NONE"})
    return client
