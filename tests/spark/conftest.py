"""One Spark session and one registry for all tests of this folder."""

from __future__ import annotations

import gc
import runpy
import struct
import time
import uuid
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyspark
import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from py4j.protocol import Py4JJavaError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import spark_avro
from compat.schema import AVRO, SchemaText
from magicbyte.testing import running_registry
from serdes.client.clients import RegistryClient
from serdes.codec import compile_codec
from tests.spark.class_data import driver_options
from tests.topics import create_topics

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
            if item.get_closest_marker("timeout") is None:
                # A driver of its own takes minutes to start on a loaded machine.
                item.add_marker(pytest.mark.timeout(1200))
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))
            # PySpark 3.5 compares versions by distutils, and 4.3 warns of pandas 3.
            item.add_marker(pytest.mark.filterwarnings("ignore:distutils Version classes:DeprecationWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning"))


@pytest.fixture(scope="session", autouse=True)
def _quick_drivers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let the drivers that tests start, a hundred of them, take a third of the CPU for that."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_SUBMIT_OPTS", driver_options(tmp_path_factory.mktemp("training")))
        yield


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
def spark_version() -> tuple[int, int]:
    """PySpark's major and minor version; some expectations depend on it."""
    major, minor = pyspark.__version__.split(".")[:2]
    return int(major), int(minor)


@pytest.fixture(scope="session")
def query_failure(spark_version: tuple[int, int]) -> type[Exception]:
    """PySpark's class for the error that stops a query: 3.5 does not know the class that `raise_error` throws."""
    failure: type[Exception] = PySparkException if spark_version >= (4, 0) else Py4JJavaError
    return failure


@pytest.fixture(scope="session")
def registry_url() -> Iterator[str]:
    # Tests register rules that nobody can carry out.
    with running_registry(properties={"magicbyte.rules.check": "off"}) as server:
        yield server.url


@pytest.fixture(scope="session")
def registry(registry_url: str) -> RegistryClient:
    client = RegistryClient(registry_url)
    client.put_config({"compatibility": "NONE"})
    return client


class Avro:
    """Registers schemas and writes messages, as a producer elsewhere would."""

    def __init__(self, registry: RegistryClient) -> None:
        self.registry = registry
        self.url = registry.urls[0]

    def register(self, subject: str, *schemas: str) -> list[int]:
        return [self.registry.register(subject, SchemaText(AVRO, schema)).id for schema in schemas]

    def message(self, schema_id: int, schema: str, datum: Any) -> bytes:
        return struct.pack(">bI", 0, schema_id) + compile_codec(schema).encode(datum)


@pytest.fixture(scope="session")
def avro(registry: RegistryClient) -> Avro:
    return Avro(registry)


@pytest.fixture
def subject() -> str:
    return f"s-{uuid.uuid4()}-value"


class Topics:
    """Writes and reads topics of a real broker."""

    def __init__(self, servers: str) -> None:
        self.servers = servers
        self._admin = AdminClient({"bootstrap.servers": servers})
        self._producer = Producer({"bootstrap.servers": servers, "linger.ms": 5})

    def create(self, partitions: int = 2) -> str:
        """The name of a new topic."""
        name = f"spark-{uuid.uuid4()}"
        create_topics(self._admin, NewTopic(name, partitions))
        return name

    def create_again(self, topic: str) -> None:
        """Delete a topic, and create another one of the same name."""
        self._admin.delete_topics([topic])[topic].result(30)
        deadline = time.monotonic() + 30
        while True:
            try:
                create_topics(self._admin, NewTopic(topic, 2))
            except KafkaException as error:
                # The broker deletes the old one a moment after its answer.
                if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS or time.monotonic() > deadline:
                    raise
            else:
                return

    def produce(self, topic: str, *values: bytes | None, partition: int = -1) -> None:
        """Produce records; the partitioner chooses the partition unless one is given."""
        for value in values:
            self._producer.produce(topic, value, partition=partition)
        assert self._producer.flush(30) == 0

    def produce_keyed(self, topic: str, key: bytes, value: bytes) -> None:
        self._producer.produce(topic, value, key)
        assert self._producer.flush(30) == 0

    def consume(self, topic: str, count: int) -> list[Any]:
        """So many records of a topic, or those that came in half a minute."""
        settings = {"bootstrap.servers": self.servers, "group.id": str(uuid.uuid4()), "auto.offset.reset": "earliest"}
        consumer = Consumer(settings)
        consumer.subscribe([topic])
        found: list[Any] = []
        deadline = time.monotonic() + 30
        while len(found) < count and time.monotonic() < deadline:
            found += consumer.consume(count - len(found), 0.5)
        consumer.close()
        return found


@pytest.fixture(scope="session")
def topics(kafka: str) -> Topics:
    return Topics(kafka)


@pytest.fixture(scope="session")
def example() -> Callable[[str], dict[str, Any]]:
    """The names that an example defines."""
    folder = Path(__file__).parents[2] / "examples"
    return lambda name: runpy.run_path(str(folder / f"{name}.py"), run_name=name)
