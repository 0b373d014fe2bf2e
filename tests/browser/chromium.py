"""Finds the browsers for the tests that need one; run as a program, installs Debian's if there is none.

Without arguments this is about Chromium; with `firefox`, about Firefox.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

#: The headless shell first: without the windows, a test of the page takes about half of the CPU.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
#: Debian's packages; old releases have the second only.
_PACKAGES = ("chromium-headless-shell", "chromium")
MISSING = "these tests need Chromium: apt-get install chromium-headless-shell, or set MAGICBYTE_BROWSER=/path/to/chrome"


FIREFOXES = ("firefox-esr", "firefox")


def find() -> str | None:
    """The path of a browser: that of MAGICBYTE_BROWSER, else the first that is on PATH."""
    return os.environ.get("MAGICBYTE_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)


def find_firefox() -> str | None:
    """The path of Firefox; None if there is none."""
    return next(filter(None, map(shutil.which, FIREFOXES)), None)


def main(arguments: list[str]) -> int:
    """Install a browser unless there is one; 0 if there is one now."""
    is_firefox = arguments == ["firefox"]
    found, packages = (find_firefox, FIREFOXES[:1]) if is_firefox else (find, _PACKAGES)
    if found() is None and shutil.which("apt-get") is not None:
        sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
        if not sudo or shutil.which("sudo") is not None:
            subprocess.run([*sudo, "apt-get", "update", "-qq"], check=False)
            install = [*sudo, "apt-get", "install", "-y", "-qq", "--no-install-recommends"]
            for package in packages:
                if subprocess.run([*install, package], check=False).returncode == 0:
                    break
    if found() is None:
        sys.stderr.write("these tests need Firefox: apt-get install firefox-esr\n" if is_firefox else f"{MISSING}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
