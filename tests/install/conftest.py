"""Python environments: with the core dependencies alone, and fresh ones with extras from the wheel."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from collections.abc import Callable
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.install.fresh import ROOT, UV, run


def core_distributions() -> dict[str, Distribution]:
    """magicbyte, what it needs without extras, and what those need."""
    distributions: dict[str, Distribution] = {}
    waiting = [Requirement("magicbyte")]
    while waiting:
        needed = waiting.pop()
        if needed.name in distributions:
            continue
        distributions[needed.name] = distribution(needed.name)
        for line in distributions[needed.name].requires or ():
            requirement = Requirement(line)
            extras = needed.extras or {""}
            if requirement.marker is None or any(requirement.marker.evaluate({"extra": extra}) for extra in extras):
                waiting.append(requirement)
    return distributions


@pytest.fixture(scope="session")
def slim_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that has this checkout and the core dependencies, by links to the installed."""
    folder = tmp_path_factory.mktemp("slim")
    venv.create(folder, with_pip=False, symlinks=True)
    site_packages = folder / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    for needed in core_distributions().values():
        installed = Path(str(needed.locate_file("")))
        for name in {file.parts[0] for file in needed.files or () if file.parts[0] not in {"..", "__pycache__"}}:
            link = site_packages / name
            if not link.exists():
                link.symlink_to(installed / name)
    return folder / "bin" / "python"


@pytest.fixture
def run_slim(slim_python: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the slim environment's Python in an empty folder."""
    environment = {name: value for name, value in os.environ.items() if name not in {"UV", "PYTHONPATH"}}

    def run(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [slim_python, "-P", *arguments],
            cwd=tmp_path,
            env=environment | more,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    return run


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, in a folder `dist`."""
    folder = tmp_path_factory.mktemp("wheel") / "dist"
    run(UV, "build", "--quiet", "--wheel", "--out-dir", folder, ROOT)
    (file,) = folder.glob("*.whl")
    return file


@pytest.fixture
def install(tmp_path: Path, wheel: Path) -> Callable[[str], Path]:
    """Makes a new environment with uv, with extras of the wheel; returns its `bin`."""

    def made(extras: str) -> Path:
        folder = tmp_path / "uv"
        run(UV, "venv", "--quiet", "--python", sys.executable, folder)
        requirement = f"magicbyte[{extras}] @ {wheel.as_uri()}"
        run(UV, "pip", "install", "--quiet", "--python", folder / "bin" / "python", requirement)
        return folder / "bin"

    return made
