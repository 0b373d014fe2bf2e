"""Lets another environment see the packages of this one, behind its own: `see_packages.py OTHER_PYTHON`."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

if __name__ == "__main__":
    asked = [sys.argv[1], "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    theirs = Path(subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip())
    ours = sysconfig.get_path("purelib")
    # addsitedir also reads the .pth files there, such as that of an editable installation.
    (theirs / "packages_of_the_checkout.pth").write_text(f"import site; site.addsitedir({ours!r})\n", encoding="utf-8")
