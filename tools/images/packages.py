"""The programs that build and run an image without a daemon: Debian's packages."""

from __future__ import annotations

import os
import shutil
import subprocess

#: Program -> its package.
PROGRAMS = {"buildah": "buildah", "debootstrap": "debootstrap", "bwrap": "bubblewrap"}


def missing() -> str:
    """Install what is missing; returns a line that says what cannot be had, or nothing."""
    if os.geteuid() != 0:
        return "an image is built as root only: a root file system belongs to root"
    lacking = [package for program, package in PROGRAMS.items() if shutil.which(program) is None]
    if lacking and shutil.which("apt-get") is not None:
        subprocess.run(["apt-get", "update", "-qq"], check=False)
        install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *lacking]
        subprocess.run(install, check=False, env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"})
    lacking = [package for program, package in PROGRAMS.items() if shutil.which(program) is None]
    return f"there is no {', '.join(lacking)}: they are packages of Debian" if lacking else ""
