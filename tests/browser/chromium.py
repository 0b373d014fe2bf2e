"""Finds a Chromium for the tests that need one; run as a program, installs Debian's if there is none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MISSING = "these tests need Chromium: apt-get install chromium, or set MAGICBYTE_BROWSER=/path/to/chrome"


def find() -> str | None:
    """The path of a browser: that of MAGICBYTE_BROWSER, else the first that is on PATH."""
    return os.environ.get("MAGICBYTE_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)


def main() -> int:
    """Install Chromium unless there is a browser; 0 if there is one now."""
    if find() is None and shutil.which("apt-get") is not None:
        sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
        if not sudo or shutil.which("sudo") is not None:
            subprocess.run([*sudo, "apt-get", "update", "-qq"], check=False)
            install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"]
            subprocess.run([*sudo, *install], check=False)
    if find() is None:
        sys.stderr.write(f"{MISSING}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
