from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from magicbyte.cli.main import main
from magicbyte.testing import running_registry
from serdes.client.clients import RegistryClient
from serdes.error import RegistryError


@dataclass
class Project:
    """A folder with schemas, perhaps in git, and the command run in it."""

    folder: Path
    capsys: pytest.CaptureFixture[str]

    def write(self, path: str, text: str) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def edit(self, path: str, old: str, new: str) -> None:
        text = (self.folder / path).read_text()
        assert text.count(old) == 1, (path, old)
        (self.folder / path).write_text(text.replace(old, new))

    def git(self, *arguments: str) -> str:
        identity = {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        command = ["git", "-c", "commit.gpgsign=false", *arguments]
        done = subprocess.run(
            command, cwd=self.folder, check=True, capture_output=True, text=True, env=os.environ | identity | quiet
        )
        return done.stdout

    def commit(self, message: str = "change") -> str:
        if not (self.folder / ".git").exists():
            self.git("init", "-q", "-b", "main")
        self.git("add", "--all")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD").strip()

    def run(self, *arguments: str) -> tuple[int, str, str]:
        """Exit code, stdout and stderr of `magicbyte ...` in the folder."""
        self.capsys.readouterr()
        code = main(arguments)
        return (code, *self.capsys.readouterr())

    def check(self, *arguments: str) -> tuple[int, list[dict[str, Any]]]:
        """Exit code and findings of `magicbyte check ...`."""
        code, out, err = self.run("check", "--format", "json", *arguments)
        return code, json.loads(out)["findings"] if out else [{"failure": err}]

    def places(self, *arguments: str) -> tuple[int, list[str]]:
        """Exit code, and each finding as `file:line:column rule`."""
        code, findings = self.check(*arguments)
        return code, [
            f"{finding['file']}:{finding['line']}:{finding['column']} {finding['rule']}" for finding in findings
        ]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Project:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return Project(folder, capsys)


@pytest.fixture(scope="session")
def registry_url() -> Iterator[str]:
    """A registry for the whole run: tests name subjects of their own."""
    with running_registry("memory:") as server:
        yield server.url


@pytest.fixture(scope="module")
def emptied_registry() -> Iterator[str]:
    with running_registry("memory:") as server:
        yield server.url


@pytest.fixture
def own_registry(emptied_registry: str) -> str:
    """A registry with nothing in it."""
    with RegistryClient(emptied_registry) as client:
        for permanent in (False, True):
            while subjects := client.subjects(deleted=permanent):
                for subject in subjects:
                    # What others refer to can be deleted after them.
                    with suppress(RegistryError):
                        client.delete_subject(subject, permanent=permanent)
        for name in (None, "a", "address", "customer"):
            with suppress(RegistryError):
                client.delete_config(name)
    return emptied_registry
