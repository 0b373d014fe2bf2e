"""`magicbyte secure`: one command makes what a secured registry needs, and clients get in with what it made."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.error import SchemaRegistryError

from compat.schema import SchemaText
from magicbyte.cli.main import main
from magicbyte.kit.processes.process import temporary_folder
from magicbyte.kit.properties_file import read_properties_file
from magicbyte.platform.broker import free_port
from magicbyte.platform.server_process import ServerProcess
from magicbyte.security.first_try import point_clients, secure
from serdes.client.clients import RegistryClient, Tls
from serdes.client.config import client_options
from serdes.error import RegistryError


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    folder, port = tmp_path_factory.mktemp("secure") / "made", free_port()
    assert main(["secure", str(folder), "--registry-port", str(port)]) == 0
    return folder, port


@pytest.fixture(scope="module")
def registry(made: tuple[Path, int]) -> Iterator[str]:
    folder, port = made
    context = ssl.create_default_context(cafile=folder / "ca.pem")
    command = ["registry", "--storage", "memory:", "--config", str(folder / "registry.properties")]
    log = temporary_folder("magicbyte-server-") / "log"
    server = ServerProcess("registry", command, f"https://127.0.0.1:{port}", log=log, probe="/subjects", tls=context)
    server.start()
    yield server.url
    server.stop()


def secrets(folder: Path) -> dict[str, str]:
    return read_properties_file(folder / "secrets.properties")


def test_only_the_owner_can_read_the_generated_files(made: tuple[Path, int]):
    folder, _ = made
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}


def test_nothing_is_written_over(made: tuple[Path, int], capsys: pytest.CaptureFixture[str]):
    folder, _ = made
    assert main(["secure", str(folder)]) == 1
    assert capsys.readouterr().err == f"magicbyte: {folder} is not empty; name a new folder\n"


def test_the_password_stands_in_no_settings(made: tuple[Path, int]):
    folder, _ = made
    passwords = secrets(folder).values()
    for path in folder.glob("*.properties"):
        if path.name != "secrets.properties":
            assert not any(password in path.read_text() for password in passwords)


def test_a_later_start_on_another_port_is_where_clients_look(tmp_path: Path):
    files = secure(tmp_path / "made", registry_port=1, rest_port=2)
    before = files.clients.read_text()
    point_clients(files, 1)
    assert files.clients.read_text() == before
    point_clients(files, 3)
    for path in (files.clients, files.admin):
        assert read_properties_file(path)["schema.registry.url"] == "https://127.0.0.1:3"
    assert files.clients.read_text() == before.replace("127.0.0.1:1", "127.0.0.1:3")
    assert files.clients.stat().st_mode & 0o777 == 0o600


def test_the_admin_signs_in_by_certificate_and_by_password(made: tuple[Path, int], registry: str):
    folder, _ = made
    with_certificate = ssl.create_default_context(cafile=folder / "ca.pem")
    with_certificate.load_cert_chain(folder / "admin.pem")
    assert httpx.get(f"{registry}/config", verify=with_certificate).status_code == 200
    without = ssl.create_default_context(cafile=folder / "ca.pem")
    assert httpx.get(f"{registry}/config", verify=without).status_code == 401
    admin = ("admin", secrets(folder)["admin"])
    assert httpx.get(f"{registry}/config", verify=without, auth=admin).status_code == 200


def test_confluents_client_gets_in_by_basic_and_by_mutual_tls(made: tuple[Path, int], registry: str):
    folder, _ = made
    schema = Schema('{"type":"string"}', "AVRO")
    trust = {"url": registry, "ssl.ca.location": str(folder / "ca.pem")}
    certificate = str(folder / "admin.pem")
    with SchemaRegistryClient({**trust, "basic.auth.user.info": f"app:{secrets(folder)['app']}"}) as app:
        assert app.register_schema("app.confluent", schema) == 1
        assert app.get_subjects() == ["app.confluent"]
        with pytest.raises(SchemaRegistryError) as refused:
            app.register_schema("other", schema)
    assert (refused.value.http_status_code, refused.value.error_code) == (403, 40301)
    mutual = {**trust, "ssl.certificate.location": certificate, "ssl.key.location": certificate}
    with SchemaRegistryClient(mutual) as admin:
        assert admin.register_schema("other", schema) == 1
        assert sorted(admin.get_subjects()) == ["app.confluent", "other"]


def test_our_client_gets_in_too(made: tuple[Path, int], registry: str):
    folder, _ = made
    options = client_options(
        {
            "url": registry,
            "ssl.ca.location": str(folder / "ca.pem"),
            "basic.auth.user.info": f"app:{secrets(folder)['app']}",
        }
    )
    with RegistryClient(**options) as app:
        assert app.register("app.ours", SchemaText("AVRO", '{"type":"string"}')).id == 1
        with pytest.raises(RegistryError) as refused:
            app.subjects() and app.version("other", 1)
        assert refused.value.code == 40301
        assert secrets(folder)["app"] not in repr(refused.value) + repr(app) + repr(options)
    certificate = Tls(str(folder / "ca.pem"), str(folder / "admin.pem"))
    with RegistryClient(registry, tls=certificate) as admin:
        assert "app.ours" in admin.subjects()
    assert urlsplit(registry).scheme == "https"
