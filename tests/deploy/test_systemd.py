"""`magicbyte systemd`: the units, what systemd says about them, and what `install` writes."""

from __future__ import annotations

import ctypes
import logging
import re
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from magicbyte.cli.main import main
from magicbyte.cli.systemd import install as installing
from magicbyte.cli.systemd.units import SERVERS, hidden_place, settings_of, unit_name, unit_of
from magicbyte.kit.properties_file import read_properties_file
from registry.settings import RegistrySettings
from rest_proxy.settings import RestProxySettings
from tests.deploy.service_manager import managing

PROGRAM = "/opt/magicbyte/bin/magicbyte"
ROOT = Path(__file__).parents[2]
_analyze = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="this machine has no systemd-analyze")
#: prctl's option that refuses memory that is both written and executed, as MemoryDenyWriteExecute=; Linux 6.3.
_PR_SET_MDWE, _REFUSE_EXEC_GAIN = 65, 1


def _settings(unit: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in re.findall(r"^([A-Z]\w+)=(.*)$", unit, re.MULTILINE):
        found.setdefault(name, []).append(value)
    return found


@pytest.mark.parametrize("server", SERVERS)
def test_each_unit_has_its_lines(server: str) -> None:
    settings = _settings(unit_of(server, [PROGRAM]))
    name = f"{server}.properties"
    wanted = {
        "Type": "notify",
        "ExecStart": f"{PROGRAM} {server} --config ${{CREDENTIALS_DIRECTORY}}/{name}",
        "LoadCredential": f"{name}:/etc/magicbyte/{name}",
        "Restart": "on-failure",
        "DynamicUser": "yes",
        "StateDirectory": f"magicbyte-{server}",
        "WorkingDirectory": f"/var/lib/magicbyte-{server}",
        "ProtectSystem": "strict",
        "WatchdogSec": "1min",
        "MemoryDenyWriteExecute": "yes",
    }
    assert {key: settings[key] for key in wanted} == {key: [value] for key, value in wanted.items()}
    assert settings["SystemCallFilter"] == ["@system-service", "~@privileged @resources"]
    assert re.fullmatch(r"\d+G", settings["MemoryMax"][0])


@_analyze
@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("folder", ["plain", "100%h of $HOME"])
def test_systemd_takes_the_unit_and_finds_it_safe(server: str, folder: str, tmp_path: Path) -> None:
    program = tmp_path / folder / "magicbyte"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    unit = tmp_path / unit_name(server)
    unit.write_text(unit_of(server, [str(program), "-P"]))
    verified = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, check=False
    )
    assert (verified.returncode, verified.stdout, verified.stderr) == (0, "", "")
    # A threshold of 20 is an exposure of 2.0.
    command = ["systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager", unit]
    judged = subprocess.run(command, capture_output=True, text=True, check=False)
    assert judged.returncode == 0, judged.stdout
    bare = tmp_path / "bare.service"
    bare.write_text("[Service]\nExecStart=/bin/true\n")
    assert subprocess.run([*command[:-1], bare], capture_output=True, check=False).returncode != 0


@pytest.mark.parametrize("server", SERVERS)
def test_the_units_name_the_files_of_this_installation(server: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["systemd", "print", server]) == 0
    printed = capsys.readouterr().out
    (start,) = _settings(printed)["ExecStart"]
    assert start.startswith(f"{Path(sys.executable).parent}/")
    committed = (ROOT / "deploy/systemd" / unit_name(server)).read_text()
    assert _settings(printed) | {"ExecStart": []} == _settings(committed) | {"ExecStart": []}


def test_the_servers_accept_the_initial_settings(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for server, model in (("registry", RegistrySettings), ("rest-proxy", RestProxySettings)):
        file = tmp_path / server
        for text in (settings_of(server), re.sub(r"(?m)^#(\w)", r"\1", settings_of(server))):
            file.write_text(text)
            with caplog.at_level(logging.WARNING):
                model.from_properties(read_properties_file(file))
    assert caplog.messages == []


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """This installation is one that units see."""
    monkeypatch.setattr(installing, "installed_program", lambda: [PROGRAM])


def test_install_writes_units_and_keeps_settings(
    installed: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    units, settings = tmp_path / "etc/systemd/system", tmp_path / "etc/magicbyte"
    arguments = ["systemd", "install", *SERVERS, "--root", str(tmp_path)]
    assert main(arguments) == 0
    written = capsys.readouterr().out.splitlines()
    assert written == [
        f"{units}/magicbyte-registry.service: written",
        f"{settings}/registry.properties: written",
        f"{units}/magicbyte-rest-proxy.service: written",
        f"{settings}/rest-proxy.properties: written",
        "next: edit the settings, then `systemctl daemon-reload` and `systemctl enable --now "
        "magicbyte-registry.service magicbyte-rest-proxy.service`",
    ]
    assert (units / "magicbyte-registry.service").read_text() == unit_of("registry", [PROGRAM])
    assert stat.S_IMODE((settings / "registry.properties").stat().st_mode) == 0o600
    (settings / "registry.properties").write_text("listeners=http://127.0.0.1:1\n")
    with (units / "magicbyte-registry.service").open("a") as unit:
        unit.write("# of an older release\n")
    assert main(arguments) == 0
    again = capsys.readouterr().out.splitlines()
    assert [line.rpartition(": ")[2] for line in again[:4]] == ["replaced", "kept", "unchanged", "kept"]
    assert (settings / "registry.properties").read_text() == "listeners=http://127.0.0.1:1\n"
    assert (units / "magicbyte-registry.service").read_text() == unit_of("registry", [PROGRAM])


def test_install_leaves_a_unit_of_somebody_else(
    installed: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    units = tmp_path / "etc/systemd/system"
    units.mkdir(parents=True)
    (units / "magicbyte-rest-proxy.service").write_text("[Service]\n")
    assert main(["systemd", "install", *SERVERS, "--root", str(tmp_path)]) == 1
    assert "magicbyte-rest-proxy.service was not written by this command" in capsys.readouterr().err
    assert [path.name for path in units.iterdir()] == ["magicbyte-rest-proxy.service"]


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["--root", "/no/such"], 2, "--root /no/such: there is no such folder"),
        (["--root", "/proc"], 1, "cannot be written: "),
    ],
)
def test_where_nothing_can_be_installed(
    installed: None, arguments: list[str], code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["systemd", "install", "registry", *arguments]) == code
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("place", ["/home/me/venv", "/root/.local/share/uv", "/tmp/venv", "/run/user/1000/venv"])
def test_the_command_refuses_an_installation_hidden_from_units(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(installing, "installed_program", lambda: [f"{place}/bin/magicbyte"])
    assert main(["systemd", "install", "registry", "--root", str(tmp_path)]) == 2
    assert f"a unit does not see {place}/bin/magicbyte, which this command needs" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_command_below_the_root_is_named_as_its_system_sees_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installing, "installed_program", lambda: [f"{tmp_path}{PROGRAM}"])
    assert main(["systemd", "install", "registry", "--root", str(tmp_path)]) == 0
    unit = (tmp_path / "etc/systemd/system/magicbyte-registry.service").read_text()
    assert f"\nExecStart={PROGRAM} registry " in unit


def test_a_unit_sees_only_some_folders() -> None:
    assert hidden_place("/opt/magicbyte/bin/magicbyte", "/usr") == ""
    assert hidden_place("/homes/me/bin/magicbyte", "/rooted") == ""
    assert hidden_place("/opt/magicbyte/bin/magicbyte", "/home/me/.pyenv/versions/3.13") == (
        "/home/me/.pyenv/versions/3.13"
    )


def _refuse_executable_memory() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_MDWE, _REFUSE_EXEC_GAIN, 0, 0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("server", SERVERS)
def test_the_command_of_a_unit_serves_without_executable_memory(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = _settings(unit_of(server, [sys.executable, "-P", "-m", "magicbyte.cli.main"]))["ExecStart"][0].split()
    state = f"sqlite:///{tmp_path}/schemas.db"
    text = settings_of(server).replace("sqlite:////var/lib/magicbyte-registry/schemas.db", state)
    # The system chooses the port.
    (tmp_path / f"{server}.properties").write_text(re.sub(r"(?m)^(listeners=.*):\d+$", r"\1:0", text))
    command = [word.replace("${CREDENTIALS_DIRECTORY}", str(tmp_path)) for word in words]
    with managing(tmp_path, monkeypatch, watchdog_seconds=3) as manager:
        run = subprocess.Popen(command, preexec_fn=_refuse_executable_memory)  # noqa: PLW1509  no other way
        manager.wait_for("READY=1")
        manager.wait_for("WATCHDOG=1")
        run.send_signal(signal.SIGTERM)
        manager.wait_for("STOPPING=1")
    assert run.wait(30) == 0
