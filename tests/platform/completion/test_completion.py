"""Completions of shells: the real shells are asked, with the script that the command prints for each."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from magicbyte.cli.completion.main import SHELLS
from magicbyte.cli.completion.table import entries
from magicbyte.cli.main import COMMANDS
from tests.platform.completion import shells

#: A line -> the words that a shell offers at its end.
LINES: Mapping[str, set[str]] = {
    "magicbyte ": {*COMMANDS},
    "magicbyte reg": {"register", "registry"},
    "magicbyte topics ": {"list", "create", "describe", "alter", "delete"},
    "magicbyte --ver": {"--version"},
    "magicbyte topics list --o": {"--output"},
    "magicbyte topics list --output ": {"table", "json"},
    "magicbyte topics list --output=j": {"json"},
    "magicbyte topics list --bootstrap-servers ": set(),
    "magicbyte topics list --command-config list --int": {"--internal"},
    "magicbyte pipeline t": {"test"},
    "magicbyte pipeline test o": {"orders.yaml"},
    "magicbyte registry --config ": {"orders.yaml", "flows"},
    "magicbyte registry --storage ": set(),
    "magicbyte up --data-dir ": {"flows"},
    "magicbyte config explain re": {"registry", "rest-proxy"},
    "magicbyte config explain rest-proxy --boot": {"--bootstrap-servers", "--bootstrap-server"},
    "magicbyte config reference ": {"check", "client", "pipeline", "registry", "rest-proxy", "ui"},
    "magicbyte settings-schema avro-s": {"avro-serializer"},
    "magicbyte consume orders --value-format s": {"schema", "string"},
    "magicbyte check e": {"explain"},
    "magicbyte completion f": {"fish"},
    "kafka-avro-console-consumer --from": {"--from-beginning"},
    "kafka-protobuf-console-producer --top": {"--topic"},
}


@cache
def script_of(shell: str) -> str:
    return SHELLS[shell](entries())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "here" / "flows").mkdir(parents=True)
    (tmp_path / "here" / "orders.yaml").touch()
    return tmp_path / "here"


def asked(shell: str, folder: Path, lines: list[str]) -> dict[str, set[str]]:
    script = folder.parent / f"magicbyte.{shell}"
    script.write_text(script_of(shell), encoding="utf-8")
    return shells.completions(shell, script, lines, folder)


def test_bash_completes_commands_options_choices_and_files(folder: Path) -> None:
    assert asked("bash", folder, [*LINES]) == LINES


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_complete_the_same(shell: str, folder: Path) -> None:
    if shutil.which(shell) is None and shells.install():
        reason = f"{shell} is missing: apt-get install {shell}"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    assert asked(shell, folder, [*LINES]) == LINES


def test_every_option_of_every_command_is_in_each_script() -> None:
    for name, entry in entries().items():
        for option in entry.options:
            for spelled in option.names:
                assert spelled in script_of("bash"), (name, spelled)
                assert f"{spelled}:" in script_of("zsh"), (name, spelled)
                plain = spelled.lstrip("-")
                assert f" {'-l' if spelled.startswith('--') else '-s'} {plain} " in script_of("fish"), (name, spelled)


def test_the_command_prints_a_script_and_refuses_other_shells() -> None:
    command = [sys.executable, "-P", "-m", "magicbyte.cli.main", "completion"]
    ran = subprocess.run([*command, "bash"], capture_output=True, text=True, check=True)
    assert ran.stdout == script_of("bash")
    ran = subprocess.run([*command, "tcsh"], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "invalid choice: 'tcsh' (choose from" in ran.stderr
