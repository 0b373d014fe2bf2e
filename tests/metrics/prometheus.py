"""Finds Prometheus and promtool for the tests that need them; run as a program, fetches Debian's package.

The package is unpacked and not installed, so no service starts. It is kept in the environment's folder.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGE = "prometheus"
NAMES = ("promtool", "prometheus")
FOLDER = Path(sys.prefix) / "prometheus"
MISSING = (
    "these tests need Debian's package prometheus (make metrics-test fetches it), or promtool and prometheus on PATH"
)


def find(name: str) -> str | None:
    """The path of `promtool` or `prometheus`: on PATH, or in the unpacked package; None if there is none."""
    unpacked = FOLDER / "usr" / "bin" / name
    return shutil.which(name) or (str(unpacked) if unpacked.exists() else None)


def has_all() -> bool:
    """Tell whether both programs are there."""
    return all(map(find, NAMES))


def _fetch() -> None:
    """Download the package and unpack it; does nothing if that fails."""
    sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
    with tempfile.TemporaryDirectory() as folder:
        # apt's own user must be able to write here.
        Path(folder).chmod(0o777)
        download = ["apt-get", "download", "-qq", PACKAGE]
        if subprocess.run(download, cwd=folder, check=False, stderr=subprocess.DEVNULL).returncode:
            if not sudo or shutil.which("sudo") is not None:
                subprocess.run([*sudo, "apt-get", "update", "-qq"], check=False)
            subprocess.run(download, cwd=folder, check=False)
        for package in Path(folder).glob(f"{PACKAGE}_*.deb"):
            unpacked = Path(folder) / "unpacked"
            subprocess.run(["dpkg", "-x", package, unpacked], check=True)
            shutil.rmtree(FOLDER, ignore_errors=True)
            shutil.copytree(unpacked / "usr" / "bin", FOLDER / "usr" / "bin")


def main() -> int:
    """Fetch the package unless the programs are there; 0 if they are there now."""
    if not has_all() and shutil.which("apt-get") is not None:
        _fetch()
    if has_all():
        return 0
    sys.stderr.write(f"{MISSING}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
