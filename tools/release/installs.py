"""The steps that install the wheel as users do: by pip, by uv and by pipx, outside of any checkout."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path

from tools.release.bill import BILLS, components, normalized
from tools.release.step import TOOLS, StepFailed, Work, run


def pip(work: Work) -> str:
    """Install the wheel into empty environments, and compare what pip installed with the wheel's SBOMs."""
    found = []
    for name, extras in BILLS.items():
        environment = work.scratch / f"pip-{name}"
        run(sys.executable, "-m", "venv", environment)
        python = environment / "bin" / "python"
        before = _installed(python)
        requirement = f"magicbyte[{','.join(extras)}] @ {work.wheel.as_uri()}" if extras else str(work.wheel)
        options = ["--quiet", "--disable-pip-version-check", "--no-compile", "--constraint", str(work.constraints())]
        run(python, "-m", "pip", "install", *options, requirement)
        _check_version(run(environment / "bin" / "magicbyte", "--version"), work)
        installed = {key: version for key, version in _installed(python).items() if key not in before}
        installed.pop("magicbyte", None)
        with zipfile.ZipFile(work.wheel) as archive:
            listed = components(archive.read(f"magicbyte-{work.version}.dist-info/sboms/{name}").decode())
        different = differences(installed, listed)
        if different:
            raise StepFailed(f"{name} is not what pip installs:\n" + "\n".join(different))
        found.append(f"magicbyte{list(extras) or ''}: {len(installed)} distributions, as in {name}".replace("'", ""))
    return "; ".join(found)


def differences(installed: dict[str, str], listed: dict[str, str]) -> list[str]:
    """Return a line for each distribution whose installed version is not the one that an SBOM lists."""
    return [
        f"{name}: installed {installed.get(name, 'not')}, listed {listed.get(name, 'not')}"
        for name in sorted(installed.keys() | listed.keys())
        if installed.get(name) != listed.get(name)
    ]


def _installed(python: Path) -> dict[str, str]:
    command = ("-m", "pip", "--disable-pip-version-check", "list", "--format", "json")
    return {normalized(entry["name"]): entry["version"] for entry in json.loads(run(python, *command))}


def uv(work: Work) -> str:
    """Run the command from the wheel by `uv tool run`."""
    told = run(TOOLS / "uv", "tool", "run", "--isolated", "--from", work.wheel, "magicbyte", "--version")
    return _check_version(told, work)


def pipx(work: Work) -> str:
    """Run the command from the wheel by `pipx run --spec`."""
    command = ("run", "--no-cache", "--spec", str(work.wheel), "magicbyte", "--version")
    told = run(TOOLS / "pipx", *command, PIPX_HOME=str(work.scratch / "pipx"))
    return _check_version(told, work)


def _check_version(told: str, work: Work) -> str:
    if told.strip() != f"magicbyte {work.version}":
        raise StepFailed(f"`magicbyte --version` prints {told.strip()!r}, not `magicbyte {work.version}`")
    return told.strip()
