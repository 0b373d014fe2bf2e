"""Common parts of the steps of a release check: folders, a command runner and the error with the finding."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

#: Of the checkout that starts the check.
ROOT = Path(__file__).resolve().parents[2]
#: The tools of deploy/requirements.lock; `make release-check` installs them.
TOOLS = ROOT / ".venv-deploy" / "bin"
#: Variables of the caller's environment that would change what a build or an installation does.
_FOREIGN = {"PYTHONPATH", "VIRTUAL_ENV", "UV", "SOURCE_DATE_EPOCH", "MAGICBYTE_SBOM", "MAGICBYTE_PAGE"}


class StepFailed(Exception):
    """A step of the check failed; the text says what it found."""


@dataclass(frozen=True, slots=True)
class Work:
    """The folders of a check.

    Attributes:
        source: The clean clone that is checked.
        scratch: A folder for environments and builds.
        version: `version` in the clone's pyproject.toml.
    """

    source: Path
    scratch: Path
    version: str

    @property
    def dist(self) -> Path:
        """The folder with the wheel and the sdist, after the step `build`."""
        return self.scratch / "dist"

    @property
    def wheel(self) -> Path:
        """The wheel that was built.

        Raises:
            StepFailed: the step `build` has not built one.
        """
        wheels = sorted(self.dist.glob("*.whl"))
        if not wheels:
            raise StepFailed("there is no wheel: the step `build` did not run or failed")
        return wheels[0]

    def constraints(self) -> Path:
        """Write the locked versions as pip's constraints, without hashes, and return the file."""
        lock = (self.source / "requirements.lock").read_text(encoding="utf-8")
        path = self.scratch / "constraints.txt"
        path.write_text("\n".join(re.findall(r"^[\w.-]+==[^\\\n]+", lock, re.MULTILINE)), encoding="utf-8")
        return path


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the check.

    Attributes:
        name: Its name in the output and for `--only`.
        run: Checks, and returns what it found; raises StepFailed.
        remedy: What to do if it fails.
        is_quick: Whether `--quick` runs it.
    """

    name: str
    run: Callable[[Work], str]
    remedy: str
    is_quick: bool = True


def run(*command: str | Path, folder: Path | None = None, **variables: str) -> str:
    """Run a command and return its stdout.

    Args:
        command: The command and its arguments.
        folder: The folder to run it in; the root folder of the file system by default, so that nothing of a checkout
            is found by accident.
        variables: Environment variables to add.

    Raises:
        StepFailed: it could not start, or ended with another code than 0; has the last lines of its output.
    """
    environment = {name: value for name, value in os.environ.items() if name not in _FOREIGN}
    try:
        done = subprocess.run(
            command, cwd=folder or "/", env=environment | variables, capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise StepFailed(f"{_name(command)} did not start: {error.strerror or error}") from error
    if done.returncode != 0:
        lines = (done.stdout + done.stderr).strip().splitlines()[-20:]
        raise StepFailed(f"{_name(command)} ended with code {done.returncode}:\n" + "\n".join(lines))
    return done.stdout


def _name(command: Sequence[str | Path]) -> str:
    return " ".join([Path(command[0]).name, *(str(word) for word in command[1:3])])
