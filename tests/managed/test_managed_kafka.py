"""Every block of docs/managed-kafka.md, with each program that takes it, on a broker that asks for such credentials."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx
import pytest
from confluent_kafka import Producer

from magicbyte.platform import jars
from magicbyte.platform.broker import free_port
from magicbyte.platform.java import find_spark_java
from magicbyte.testing import running_registry, running_rest_proxy

# A broker of its own, and each program with each mechanism: minutes.
pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parent
DOCUMENT = (FOLDER.parents[1] / "docs" / "managed-kafka.md").read_text(encoding="utf-8")
BLOCKS = {
    name: dict(line.split("=", 1) for line in text.splitlines())
    for name, text in re.findall(r"^```properties (\S+)\n(.*?)\n```$", DOCUMENT, re.MULTILINE | re.DOTALL)
}
JSON = {"content-type": "application/vnd.kafka.json.v2+json"}

Settings = Callable[[str], dict[str, str]]


def test_the_document_has_a_block_for_each_mechanism():
    assert set(BLOCKS) == {"PLAIN", "SCRAM-SHA-512", "OAUTHBEARER", "AWS_MSK_IAM"}


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The regions that the stub of Amazon's signer was asked for, in this process and in those that it starts."""
    file = tmp_path / "calls"
    file.touch()
    monkeypatch.setenv("PYTHONPATH", str(FOLDER / "msk_stub"))
    monkeypatch.syspath_prepend(str(FOLDER / "msk_stub"))
    monkeypatch.setenv("MSK_STUB_CALLS", str(file))
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    for name in [name for name in sys.modules if name.startswith("aws_msk_iam_sasl_signer")]:
        monkeypatch.delitem(sys.modules, name)
    return file


@pytest.fixture
def settings(managed_kafka: Any, oauth: Any, calls: Path) -> Settings:
    """A block of the document with this broker's addresses, credentials and certificate."""
    words = {
        "CLIENT_ID": managed_kafka.key,
        "CLIENT_SECRET": "oauth-secret",
        "SCOPE": "kafka",
        "KEY": managed_kafka.key,
        "SECRET": managed_kafka.secret.replace('"', '\\"'),
        "https://TOKEN_ENDPOINT": f"{oauth.url}/token",
    }

    def filled(mechanism: str) -> dict[str, str]:
        pattern = re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))))
        block = {name: pattern.sub(lambda word: words[word[0]], value) for name, value in BLOCKS[mechanism].items()}
        trust = {"ssl.truststore.location": str(managed_kafka.certificate), "ssl.truststore.type": "PEM"}
        return {"bootstrap.servers": managed_kafka.listeners[mechanism], **block, **trust}

    return filled


def properties_file(folder: Path, properties: dict[str, str]) -> str:
    file = folder / "client.properties"
    file.write_text("".join(f"{name}={value}\n".replace("\\", "\\\\") for name, value in properties.items()))
    return str(file)


def prefixed(prefix: str, properties: dict[str, str]) -> dict[str, str]:
    return {f"{prefix}{name}": value for name, value in properties.items() if name != "bootstrap.servers"}


def registry_properties(settings: dict[str, str]) -> dict[str, str]:
    name = f"schemas-{uuid.uuid4().hex}"
    return {"kafkastore.topic": name, "schema.registry.group.id": name, **prefixed("kafkastore.", settings)}


@pytest.mark.parametrize("mechanism", BLOCKS)
def test_the_registry(settings: Settings, calls: Path, mechanism: str):
    properties = settings(mechanism)
    with running_registry(
        "kafka:", bootstrap_servers=properties["bootstrap.servers"], properties=registry_properties(properties)
    ) as registry:
        answer = httpx.post(f"{registry.url}/subjects/s/versions", json={"schema": '"int"'}, timeout=60)
        assert (answer.status_code, answer.json()["id"]) == (200, 1)
        assert httpx.get(f"{registry.url}/schemas/ids/1", timeout=60).json()["schema"] == '"int"'
    assert set(calls.read_text().split()) == ({"eu-west-1"} if mechanism == "AWS_MSK_IAM" else set())


@pytest.mark.parametrize("mechanism", BLOCKS)
def test_the_rest_proxy(settings: Settings, mechanism: str):
    properties, topic = settings(mechanism), f"t-{uuid.uuid4().hex}"
    with (
        running_rest_proxy(properties["bootstrap.servers"], "", properties=prefixed("client.", properties)) as proxy,
        httpx.Client(base_url=proxy.url, timeout=60) as client,
    ):
        answer = client.post(f"/topics/{topic}", json={"records": [{"value": 1}]}, headers=JSON)
        assert answer.json()["offsets"] == [{"partition": 0, "offset": 0, "error_code": None, "error": None}]
        assert topic in client.get("/topics").json()
        config = {"name": "i", "format": "json", "auto.offset.reset": "earliest"}
        v2 = {"content-type": "application/vnd.kafka.v2+json"}
        assert client.post("/consumers/g", json=config, headers=v2).status_code == 200
        client.post("/consumers/g/instances/i/subscription", json={"topics": [topic]}, headers=v2)
        records: list[Any] = []
        accept = {"accept": JSON["content-type"]}
        while not records:
            records = client.get("/consumers/g/instances/i/records", params={"timeout": 1000}, headers=accept).json()
        assert [record["value"] for record in records] == [1]


@pytest.mark.parametrize("mechanism", BLOCKS)
def test_the_console_tools(settings: Settings, tmp_path: Path, mechanism: str):
    properties, topic = settings(mechanism), f"t-{uuid.uuid4().hex}"
    config = properties_file(tmp_path, properties)
    common = ["--bootstrap-server", properties["bootstrap.servers"], "--topic", topic, "--property"]

    def run(tool: str, *arguments: str, text: str = "") -> str:
        code = f"import sys; from serdes.console import main; sys.exit(main.{tool}())"
        command = [sys.executable, "-P", "-c", code, *common, f"schema.registry.url={registry.url}", *arguments]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    with running_registry() as registry:
        run("avro_producer", "--producer.config", config, "--property", 'value.schema="int"', text="1\n2\n")
        flags = ["--consumer.config", config, "--from-beginning", "--max-messages", "2"]
        assert run("avro_consumer", *flags) == "1\n2\n"


@pytest.fixture(scope="module")
def msk_class(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The class path of a stub of Amazon's Java class; Kafka's own classes have to be seen from where it is loaded."""
    folder = tmp_path_factory.mktemp("msk")
    (client,) = (path for path in jars.paths(f"spark-{version('pyspark')}") if path.name.startswith("kafka-clients-"))
    source = FOLDER / "msk_stub" / "java" / "IAMOAuthBearerLoginCallbackHandler.java"
    command = [find_spark_java().home / "bin" / "javac", "-cp", client, "-d", folder, source]
    subprocess.run(command, check=True)
    return f"{folder}{os.pathsep}{client}"


def test_spark(settings: Settings, managed_kafka: Any, oauth: Any, msk_class: str):
    topic = f"t-{uuid.uuid4().hex}"
    producer = Producer({"bootstrap.servers": managed_kafka.plaintext})
    producer.produce(topic, b"before")
    producer.flush(30)
    options = {
        mechanism: {f"kafka.{name}": value for name, value in settings(mechanism).items()} for mechanism in BLOCKS
    }
    given = {
        "topic": topic,
        "class_path": msk_class,
        "java_options": f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={oauth.url}/token",
        "options": options,
    }
    command = [sys.executable, "-P", FOLDER / "on_spark.py", json.dumps(given)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=280)
    assert done.returncode == 0, done.stderr
    read = json.loads(done.stdout.splitlines()[-1])
    expected: dict[str, list[str]] = {}
    written: list[str] = []
    for mechanism in BLOCKS:
        expected[mechanism] = sorted(["before", *written])
        written.append(f"by Spark with {mechanism}")
    assert read == expected


@pytest.mark.parametrize("mechanism", ["OAUTHBEARER", "AWS_MSK_IAM"])
def test_an_idle_registry_renews_its_token(
    settings: Settings, oauth: Any, calls: Path, monkeypatch: pytest.MonkeyPatch, mechanism: str
):
    monkeypatch.setattr(oauth, "lifetime", 5)
    monkeypatch.setenv("MSK_STUB_SECONDS", "5")

    def signed() -> int:
        return len(oauth.granted) + len(calls.read_text().split())

    properties = settings(mechanism)
    with running_registry(
        "kafka:", bootstrap_servers=properties["bootstrap.servers"], properties=registry_properties(properties)
    ) as registry:
        # Each of the registry's clients asks for tokens of its own. After so many, each has had two or more.
        enough, deadline = signed() + 20, time.monotonic() + 120
        while signed() < enough:
            assert time.monotonic() < deadline, f"{signed()} tokens, {enough} expected"
            time.sleep(0.2)
        answer = httpx.post(f"{registry.url}/subjects/s/versions", json={"schema": '"int"'}, timeout=60)
        assert (answer.status_code, answer.json()["id"]) == (200, 1)


REFUSALS = {
    "PLAIN": "Authentication failed: Invalid username or password",
    "SCRAM-SHA-512": "Authentication failed during authentication due to invalid credentials",
    "OAUTHBEARER": 'Failed to acquire SASL OAUTHBEARER token: {"error": "invalid_client"}',
}


@pytest.fixture
def refused_settings(settings: Settings) -> Settings:
    """As `settings`, with a secret that is wrong."""

    def filled(mechanism: str) -> dict[str, str]:
        properties = settings(mechanism)
        return {**properties, "sasl.jaas.config": properties["sasl.jaas.config"].replace("secret", "wrong")}

    return filled


@pytest.mark.parametrize("mechanism", REFUSALS)
def test_the_registry_says_why_the_broker_refuses_it(refused_settings: Settings, tmp_path: Path, mechanism: str):
    properties = refused_settings(mechanism)
    servers = properties["bootstrap.servers"]
    given = {**registry_properties(properties), "kafkastore.init.timeout.ms": "3000"}
    command = [sys.executable, "-P", "-m", "magicbyte.cli.main", "registry", "--listen", f"127.0.0.1:{free_port()}"]
    command += ["--storage", "kafka:", "--bootstrap-servers", servers, "--config", properties_file(tmp_path, given)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    last = done.stderr.splitlines()[-1]
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert last.startswith(f"magicbyte: the registry can't start: no Kafka broker answers at {servers}: ")
    assert REFUSALS[mechanism] in last


@pytest.mark.parametrize("mechanism", REFUSALS)
def test_the_rest_proxy_says_why_the_broker_refuses_it(refused_settings: Settings, mechanism: str):
    properties = refused_settings(mechanism)
    with running_rest_proxy(properties["bootstrap.servers"], "", properties=prefixed("client.", properties)) as proxy:
        for _ in range(2):
            answer = httpx.post(f"{proxy.url}/topics/t", json={"records": [{"value": 1}]}, headers=JSON, timeout=120)
            result = answer.json()["offsets"][0]
            assert (result["error_code"], REFUSALS[mechanism] in result["error"]) == (40101, True), result


@pytest.mark.parametrize("mechanism", REFUSALS)
def test_a_console_tool_says_why_the_broker_refuses_it(refused_settings: Settings, tmp_path: Path, mechanism: str):
    properties = refused_settings(mechanism)
    command = [sys.executable, "-P", "-m", "magicbyte.cli.main", "consume", "t", "--until-end"]
    command += ["--bootstrap-server", properties["bootstrap.servers"], "--property", "schema.registry.url=mock://a"]
    command += ["--command-config", properties_file(tmp_path, properties)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout) == (3, "")
    assert REFUSALS[mechanism] in done.stderr
