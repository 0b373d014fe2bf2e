"""The pytest plugin in a project of somebody else's, with folders that are called like ours."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

CLIENTS = """
    import json
    import os
    import urllib.request
    from contextlib import suppress
    from pathlib import Path

    def call(url, body=None, media_type="application/vnd.schemaregistry.v1+json", method=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {} if body is None else {"Content-Type": media_type}
        with urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method)) as answer:
            return json.load(answer)

    def produce(proxy):
        body = {"value_schema": '"string"', "records": [{"value": "a"}]}
        return call(f"{proxy.url}/topics/t", body, "application/vnd.kafka.avro.v2+json")

    def pids_of(package):
        # The processes of this run's servers of a package.
        found = set()
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                words = (folder / "cmdline").read_bytes().split(b"\\0")
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                if {b"magicbyte.testing.renewed", package.encode()} <= set(words) and parent == os.getpid():
                    found.add(int(folder.name))
        return found
"""


@pytest.fixture
def project(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs pytest on the given tests in a project with its own `registry` and `compat`."""
    for stranger in ("registry", "compat", "serdes", "rest_proxy"):
        (tmp_path / stranger).mkdir()
        (tmp_path / stranger / "__init__.py").write_text("WHOSE = 'the project'\n")
    (tmp_path / "clients.py").write_text(textwrap.dedent(CLIENTS))
    (tmp_path / "conftest.py").write_text("")

    def run(tests: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "test_project.py").write_text("from clients import call, produce\n" + textwrap.dedent(tests))
        # Without the plugins that this project's own tests use.
        others = [word for name in ("hypothesispytest", "schemathesis", "timeout") for word in ("-p", f"no:{name}")]
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *others, *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)

    return run


@pytest.mark.slow
def test_servers_are_as_new_for_each_test(project: Callable[..., subprocess.CompletedProcess[str]]):
    done = project(
        """
        import registry
        import compat
        import pytest
        from clients import pids_of

        PIDS = set()

        def test_strangers():
            assert registry.WHOSE == compat.WHOSE == "the project"

        @pytest.mark.parametrize("run", [1, 2])
        def test_registry(schema_registry, run):
            assert call(f"{schema_registry.url}/subjects?deleted=true") == []
            assert call(f"{schema_registry}/config")["compatibilityLevel"] == "BACKWARD"
            assert call(f"{schema_registry}/subjects/a/versions", {"schema": '"string"'})["id"] == 1
            assert call(f"{schema_registry}/config", {"compatibility": "NONE"}, method="PUT")
            assert call(f"{schema_registry}/mode", {"mode": "READONLY"}, method="PUT")
            PIDS.update(pids_of("registry"))
            assert len(PIDS) == 1

        @pytest.fixture
        def registered(schema_registry):
            call(f"{schema_registry}/subjects/before/versions", {"schema": '"int"'})

        @pytest.mark.parametrize("run", [1, 2])
        def test_all_three(registered, rest_proxy, kafka_broker, schema_registry, run):
            assert call(f"{schema_registry}/subjects") == ["before"]
            assert "t" not in call(f"{rest_proxy}/topics")
            assert produce(rest_proxy)["value_schema_id"] == 2
            assert call(f"{schema_registry}/subjects") == ["before", "t-value"]
            assert "t" in call(f"{rest_proxy}/topics")
            instance = {"format": "avro", "auto.offset.reset": "earliest"}
            made = call(f"{rest_proxy}/consumers/g", {"name": "i", **instance}, "application/vnd.kafka.v2+json")
            assert made["instance_id"] == "i"

        def test_broker_alone(kafka_broker):
            from confluent_kafka.admin import AdminClient

            topics = AdminClient({"bootstrap.servers": kafka_broker.bootstrap_servers}).list_topics(timeout=60).topics
            assert [name for name in topics if not name.startswith("__")] == []

        def test_asked_for_late(request):
            assert call(f"{request.getfixturevalue('schema_registry')}/subjects") == []
        """,
        "-W",
        "error",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "7 passed" in done.stdout


def test_settings_and_mock(project: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path):
    (tmp_path / "conftest.py").write_text(
        "import pytest\n\n@pytest.fixture(scope='session')\n"
        "def schema_registry_properties():\n    return {'schema.compatibility.level': 'FULL'}\n"
    )
    done = project(
        """
        import sys

        def test_level(schema_registry):
            assert call(f"{schema_registry.url}/config")["compatibilityLevel"] == "FULL"

        def test_nothing_of_ours_was_imported():
            heavy = {"confluent_kafka", "fastapi", "pydantic", "httpx", "uvicorn", "asyncio"}
            assert not heavy & set(sys.modules) - {"asyncio"}
            assert "registry" not in sys.modules
        """
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_loading_the_plugin_costs_little():
    code = "import sys, pytest; before = set(sys.modules); import magicbyte.testing.plugin; "
    code += "print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["magicbyte", "magicbyte.testing", "magicbyte.testing.plugin"]


def test_mock_urls_find_the_real_registry():
    code = (
        "from serdes.client.clients import RegistryClient; from compat.schema import SchemaText\n"
        "with RegistryClient('mock://a') as client: print(client.register('s', SchemaText('AVRO', '\"int\"')).id)"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr


@pytest.mark.slow
def test_secured_servers(project: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path):
    (tmp_path / "conftest.py").write_text(
        "import pytest\n\n@pytest.fixture(scope='session')\ndef magicbyte_secure():\n    return True\n"
    )
    done = project(
        """
        import ssl
        import pytest
        from base64 import b64encode
        from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
        from confluent_kafka.schema_registry.error import SchemaRegistryError
        from urllib.request import Request, urlopen

        SCHEMA = Schema('{"type":"string"}', "AVRO")

        @pytest.mark.parametrize("run", [1, 2])
        def test_two_clients(schema_registry, run):
            with SchemaRegistryClient(schema_registry.client) as app:
                assert app.register_schema("app.orders-value", SCHEMA) == 1
                with pytest.raises(SchemaRegistryError) as denied:
                    app.register_schema("other", SCHEMA)
            assert denied.value.error_code == 40301
            with SchemaRegistryClient(schema_registry.admin) as admin:
                assert admin.register_schema("other", SCHEMA) == 1
            with SchemaRegistryClient({**schema_registry.client, "basic.auth.user.info": "app:x"}) as nobody:
                with pytest.raises(SchemaRegistryError) as unknown:
                    nobody.get_subjects()
            assert unknown.value.http_status_code == 401

        def test_the_proxy(rest_proxy, schema_registry):
            context = ssl.create_default_context(cafile=schema_registry.client["ssl.ca.location"])
            pair = schema_registry.client["basic.auth.user.info"]
            headers = {"Authorization": "Basic " + b64encode(pair.encode()).decode()}
            with urlopen(Request(f"{rest_proxy.url}/topics", headers=headers), context=context) as answer:
                assert answer.status == 200
            assert pair not in repr(schema_registry)
        """,
        "-W",
        "error",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout
