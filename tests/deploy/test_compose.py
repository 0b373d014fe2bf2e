"""The compose files: every variable, port, file and command in them exists in our settings and commands."""

from __future__ import annotations

import json
import logging
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from magicbyte.cli.parsers import parsers
from magicbyte.cli.servers.configured import SERVERS
from magicbyte.kit.environment import read_environment
from magicbyte.kit.kafka.client_settings import client_config
from magicbyte.kit.placeholders import resolve
from magicbyte.kit.properties_file import read_properties_file
from magicbyte.security.first_try import Secured, secure
from registry.settings import RegistrySettings
from rest_proxy.settings import RestProxySettings
from spark_avro.pipeline.file.reading import read_pipeline
from tests.deploy.compose_files import FILES, FOLDER, ours, services, variables

MODELS = {"registry": RegistrySettings, "rest-proxy": RestProxySettings}
OURS = [(file, service) for file in FILES for service in ours(file)]
_SECURE = "/secure/files"


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Secured:
    """The files that the service `setup` makes."""
    command = services("compose.secured.yaml")["setup"]["command"][0]
    words = shlex.split(command[command.index("magicbyte secure") : command.index(";")])
    options = parsers()["magicbyte secure"].parse_args(words[2:])
    assert str(options.folder) == _SECURE
    folder = tmp_path_factory.mktemp("secure") / "files"
    return secure(folder, registry_port=8081, rest_port=8082, hosts=options.allowed_host)


def _properties(file: str, service: str, secured: Secured) -> dict[str, str]:
    """The properties that a service gets, with the paths of files that exist here."""
    settings = ours(file)[service]
    name, *rest = settings["command"]
    options = parsers()[f"magicbyte {name}"].parse_args(rest)
    of_file = {}
    if options.config is not None:
        of_file = read_properties_file(secured.ca.parent / Path(options.config).relative_to(_SECURE))
    read = read_environment(SERVERS[name].prefix, variables(settings).items())
    assert read.service_links == ()
    assert len(read.properties) == len(settings["environment"])
    whole = of_file | read.properties
    return resolve({key: value.replace(_SECURE, str(secured.ca.parent)) for key, value in whole.items()})


@pytest.mark.parametrize(("file", "service"), OURS)
def test_a_server_accepts_its_variables(
    file: str, service: str, secured: Secured, caplog: pytest.LogCaptureFixture
) -> None:
    settings = ours(file)[service]
    name = settings["command"][0]
    properties = _properties(file, service, secured)
    with caplog.at_level(logging.WARNING):
        model: Any = MODELS[name].from_properties(properties)
    assert caplog.messages == []
    if name == "registry":
        model.check_security({"https" if "secured" in file else "http": True})
        client_config(model.kafka_client_properties)
        assert model.host_name == service
    else:
        model.check_security({"https" if "secured" in file else "http": True})
        model.admin_config()
    listened = properties["listeners"].rpartition(":")[2]
    for port in settings.get("ports", ()):
        address, _, container = port.rpartition(":")
        assert container == listened
        assert address.startswith("127.0.0.1:"), "serves this machine only"
    assert properties["listeners"].startswith("https://" if "secured" in file else "http://")


def test_the_tests_cover_every_server_of_the_compose_files() -> None:
    assert OURS == [
        ("compose.yaml", "registry-1"),
        ("compose.yaml", "registry-2"),
        ("compose.yaml", "rest-proxy"),
        ("compose.secured.yaml", "registry-1"),
        ("compose.secured.yaml", "registry-2"),
        ("compose.secured.yaml", "registry-3"),
        ("compose.secured.yaml", "rest-proxy"),
    ]


@pytest.mark.parametrize("file", FILES)
def test_services_name_services_files_and_ports_that_exist(file: str) -> None:
    found = services(file)
    volumes = yaml.safe_load((FOLDER / file).read_text()).get("volumes", {})
    published = [port for settings in found.values() for port in settings.get("ports", ())]
    assert len({port.rpartition(":")[0] for port in published}) == len(published)
    for service, settings in found.items():
        assert set(settings.get("depends_on", ())) <= set(found), service
        for mount in settings.get("volumes", ()):
            source = mount.partition(":")[0]
            if source.startswith("."):
                # Those of Prometheus and Grafana come with the alerts and the dashboards.
                assert (FOLDER / source).exists() or source in ("../prometheus", "../grafana"), mount
            else:
                assert source in volumes, mount
        for value in settings.get("environment", {}).values():
            for host in ("broker", "registry", "rest-proxy"):
                for word in str(value).replace("@", ",").replace("//", ",").split(","):
                    name, colon, _ = word.partition(":")
                    assert not (colon and name.startswith(host)) or name in found, (service, value)


def test_profiles_leave_no_dependency_behind() -> None:
    found = services("compose.yaml")
    assert {tuple(settings["profiles"]) for settings in found.values()} == {("core",), ("observe",), ("spark",)}
    for settings in found.values():
        for needed in settings.get("depends_on", ()):
            assert found[needed]["profiles"] in (settings["profiles"], ["core"])


@pytest.mark.parametrize(("file", "service"), OURS)
def test_a_server_runs_without_rights(file: str, service: str) -> None:
    settings = ours(file)[service]
    assert (settings["read_only"], settings["cap_drop"], settings["tmpfs"]) == (True, ["ALL"], ["/tmp"])
    assert settings["security_opt"] == ["no-new-privileges:true"]
    assert "privileged" not in settings


def test_no_secret_is_in_a_secured_service() -> None:
    for service, settings in services("compose.secured.yaml").items():
        for variable, value in settings.get("environment", {}).items():
            assert "password=" not in value or 'password="$${file:' in value, (service, variable)


def test_the_certificate_has_the_name_of_every_secured_server(secured: Secured) -> None:
    from cryptography import x509  # noqa: PLC0415  only here

    (certificate, *_) = x509.load_pem_x509_certificates((secured.ca.parent / "server.pem").read_bytes())
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    named = set(services("compose.secured.yaml")) - {"setup"}
    assert named <= set(names.get_values_for_type(x509.DNSName))


def test_the_runner_accepts_the_pipeline_of_the_profile_spark() -> None:
    settings = services("compose.yaml")["pipeline"]
    program, *words = settings["command"]
    assert program == "magicbyte"
    options = parsers()["magicbyte pipeline"].parse_args(words[1:])
    assert options.metrics == "0.0.0.0:9109"
    pipeline = read_pipeline(FOLDER / "pipeline.yaml")
    assert pipeline.name == "orders"


def _compose_schema() -> Path | None:
    found = list(Path(__file__).parents[2].glob(".venv-deploy/lib/python3*/site-packages/check_jsonschema"))
    return found[0].parents[3] / "bin" / "check-jsonschema" if found else None


@pytest.mark.skipif(_compose_schema() is None, reason="`make image-test` makes .venv-deploy, which has the schema")
@pytest.mark.parametrize("file", FILES)
def test_compose_takes_the_file(file: str) -> None:
    command = [str(_compose_schema()), "--builtin-schema", "vendor.compose-spec", "-o", "json", str(FOLDER / file)]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert json.loads(checked.stdout)["status"] == "ok", checked.stdout
