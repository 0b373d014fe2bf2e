from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient

from magicbyte.platform import jars
from magicbyte.platform.broker import BrokerFailed, LocalBroker, free_port, kafka_version, port_is_free
from magicbyte.platform.broker.coordinators import await_coordinators
from magicbyte.testing import temporary_broker
from tests.waiting import PATIENCE

MAGICBYTE = [sys.executable, "-P", "-m", "magicbyte.cli.main"]


kraft_only = pytest.mark.skipif(
    kafka_version().startswith("2."), reason="Kafka 2.8 runs with ZooKeeper, and only in tests"
)


@pytest.fixture(scope="module")
def running() -> Iterator[LocalBroker]:
    """One broker for the tests that leave it running."""
    with temporary_broker(properties={"num.partitions": "3"}) as broker:
        yield broker


@pytest.fixture
def broker() -> Iterator[LocalBroker]:
    with temporary_broker() as broker:
        yield broker


def names_of_topics(bootstrap_servers: str) -> set[str]:
    return set(AdminClient({"bootstrap.servers": bootstrap_servers}).list_topics(timeout=60).topics)


def produce(bootstrap_servers: str, topic: str, value: bytes) -> None:
    producer = Producer({"bootstrap.servers": bootstrap_servers, "linger.ms": 0})
    producer.produce(topic, value)
    assert producer.flush(PATIENCE) == 0


def consume(bootstrap_servers: str, topic: str, group: str) -> bytes | None:
    consumer = Consumer({"bootstrap.servers": bootstrap_servers, "group.id": group, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    end, record = time.monotonic() + PATIENCE, None
    while (record is None or record.error() is not None) and time.monotonic() < end:
        record = consumer.poll(1)
    consumer.close()
    return record.value() if record is not None else None


def test_a_record_goes_through_a_transaction_and_a_group(kafka: str) -> None:
    topic = f"t-{uuid.uuid4()}"
    producer = Producer({"bootstrap.servers": kafka, "transactional.id": topic})
    producer.init_transactions(10)
    producer.begin_transaction()
    producer.produce(topic, b"value")
    producer.commit_transaction(10)
    assert consume(kafka, topic, topic) == b"value"


def test_groups_and_transactions_need_not_wait_after_a_start(broker: LocalBroker) -> None:
    # Made when the first client asks, they cost it 3.2 s and 1.2 s.
    assert names_of_topics(broker.bootstrap_servers) == {"__consumer_offsets", "__transaction_state"}
    assert await_coordinators(broker.host, broker.port, timeout=1)


@pytest.mark.slow
def test_topics_and_records_are_there_again_after_a_stop_and_after_a_crash(running: LocalBroker) -> None:
    produce(running.bootstrap_servers, "kept", b"value")
    running.stop()
    running.start()
    assert consume(running.bootstrap_servers, "kept", "after the stop") == b"value"
    running.kill()
    running.start()
    assert consume(running.bootstrap_servers, "kept", "after the crash") == b"value"


def test_the_log_can_be_read(running: LocalBroker) -> None:
    lines = running.log.read_text().splitlines()
    started = [line for line in lines if re.search(r"Kafka Server started|\[KafkaServer id=1\] started", line)]
    assert len(started) == 1
    assert re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} INFO kafka\.server\.Kafka(Raft)?Server - ", started[0])


def test_an_argument_or_the_environment_names_the_version_of_kafka(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MAGICBYTE_KAFKA_VERSION", raising=False)
    assert LocalBroker(tmp_path).version == "4.3.1"
    monkeypatch.setenv("MAGICBYTE_KAFKA_VERSION", "3.9.2")
    assert LocalBroker(tmp_path).version == "3.9.2"
    assert LocalBroker(tmp_path, version="4.4.0").version == "4.4.0"
    monkeypatch.setenv("MAGICBYTE_KAFKA_VERSION", "2.7")
    with pytest.raises(BrokerFailed) as failed:
        LocalBroker(tmp_path)
    assert str(failed.value) == f"there is no broker of Kafka 2.7, only of {', '.join(jars.KAFKA_VERSIONS)}"


def test_the_class_path_is_that_of_the_version(running: LocalBroker) -> None:
    command = Path(f"/proc/{running.pid}/cmdline").read_bytes().decode()
    assert re.findall(r"/kafka_2\.13-([\d.]+)-", command) == [running.version]


def test_settings_of_the_caller_override_the_defaults(running: LocalBroker) -> None:
    produce(running.bootstrap_servers, "of-three", b"value")
    topics = AdminClient({"bootstrap.servers": running.bootstrap_servers}).list_topics(timeout=60).topics
    assert sorted(topics["of-three"].partitions) == [0, 1, 2]


def test_one_line_says_that_the_port_is_in_use(kafka: str, tmp_path: Path) -> None:
    port = int(kafka.rpartition(":")[2])
    with pytest.raises(BrokerFailed) as failed:
        LocalBroker(tmp_path, port).start()
    assert str(failed.value) == f"port {port} is in use: stop what listens there, or choose another port"
    assert list(tmp_path.iterdir()) == []


def test_a_second_broker_on_the_same_folder_is_refused(running: LocalBroker) -> None:
    produce(running.bootstrap_servers, "kept", b"value")
    with pytest.raises(BrokerFailed) as failed:
        LocalBroker(running.data_dir, 0).start()
    assert str(failed.value) == (f"the data folder {running.data_dir} is in use by another broker: stop that one first")
    assert "kept" in names_of_topics(running.bootstrap_servers)


REMEDY = "it is not a local broker's, or it is damaged; name another with --data-dir, or remove it"


@kraft_only
@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("something.txt", b"", f"the data folder {{logs}} holds files but no meta.properties: {REMEDY}"),
        *(
            (
                "meta.properties",
                data,
                f"the data folder {{logs}} has a damaged or foreign meta.properties: {REMEDY}",
            )
            for data in (b"", b"\xff\xfe\0", b"version=1\nnode.id=1\n", b"version=1\ncluster.id=x\nnode.id=7\n")
        ),
    ],
)
def test_a_folder_that_is_not_a_brokers_is_refused(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    logs = tmp_path / "kafka"
    logs.mkdir()
    (logs / name).write_bytes(data)
    with pytest.raises(BrokerFailed) as failed:
        LocalBroker(tmp_path, 0).start()
    assert str(failed.value) == message.format(logs=logs)
    assert (logs / name).read_bytes() == data


@kraft_only
@pytest.mark.slow
def test_the_broker_reports_damaged_metadata_before_kafka_deletes_the_topics(running: LocalBroker) -> None:
    running.stop()
    segment = running.data_dir / "kafka" / "__cluster_metadata-0" / "00000000000000000000.log"
    data = segment.read_bytes()
    segment.write_bytes(bytes(len(data)))
    with pytest.raises(BrokerFailed) as failed:
        running.start()
    assert str(failed.value) == f"{segment} is damaged, and with it all topics: name another --data-dir, or remove it"
    segment.write_bytes(data)
    running.start()


@pytest.mark.parametrize(
    ("properties", "reason"),
    [
        (
            {"num.partitions": "many"},
            "Invalid value many for configuration num.partitions: Not a number of type INT",
        ),
        pytest.param({"process.roles": "broker"}, "requirement failed", marks=kraft_only),
    ],
)
def test_one_line_gives_the_reason_why_kafka_ended(tmp_path: Path, properties: dict[str, str], reason: str) -> None:
    broker = LocalBroker(tmp_path, 0, properties=properties)
    with pytest.raises(BrokerFailed) as failed:
        broker.start()
    text = str(failed.value)
    assert text.startswith(f"the broker did not start: {reason}")
    assert text.endswith(f"; its log is {broker.log}")
    assert "\n" not in text
    assert not broker.is_running


def test_one_line_says_that_the_folder_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BrokerFailed) as failed:
        LocalBroker(tmp_path / "file", 0).start()
    assert str(failed.value) == f"the data folder {tmp_path / 'file' / 'kafka'} cannot be used: Not a directory"


@pytest.mark.slow
@kraft_only
def test_the_broker_command_runs_until_its_stop_signal(tmp_path: Path) -> None:
    port = free_port()
    command = [*MAGICBYTE, "broker", "--port", str(port), "--data-dir", str(tmp_path)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        assert running.stderr.readline() == (
            f"magicbyte: broker at 127.0.0.1:{port}, its data and log in {tmp_path}; Ctrl-C stops it\n"
        )
        produce(f"127.0.0.1:{port}", "topic", b"value")
        running.send_signal(signal.SIGTERM)
        assert running.wait(60) == 0
        assert running.stderr.read() == ""
    assert port_is_free(port)


@kraft_only
def test_the_broker_command_reports_why_the_broker_cannot_start(kafka: str, tmp_path: Path) -> None:
    port = kafka.rpartition(":")[2]
    command = [*MAGICBYTE, "broker", "--port", port, "--data-dir", str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (
        1,
        "",
        f"magicbyte: port {port} is in use: stop what listens there, or choose another port\n",
    )
