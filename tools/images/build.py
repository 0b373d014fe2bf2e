"""Builds an image by buildah, on a root file system of Debian's packages, and writes it as an OCI layout."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from magicbyte.kit.failure import cache_folder

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "deploy" / "images"
_SUITE = "bookworm"
_MIRROR = "http://deb.debian.org/debian"
#: What the base of an image needs: Python, a venv module for the build, and the certificates of authorities.
_PACKAGES = ("python3", "python3-venv", "ca-certificates")
#: What nobody reads in a container.
_LEFT_OUT = ("usr/share/doc", "usr/share/man", "usr/share/locale", "var/cache/apt", "var/lib/apt/lists", "var/log")
_BASE = "localhost/magicbyte-base"


def cache() -> Path:
    """The folder that later runs find again."""
    folder = cache_folder() / "images"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def base_archive() -> Path:
    """A root file system of Debian's packages as an archive; made once."""
    made_of = hashlib.sha256(repr((_SUITE, _PACKAGES, _LEFT_OUT)).encode()).hexdigest()[:12]
    archive = cache() / f"base-{_SUITE}-{made_of}.tar"
    if archive.exists():
        return archive
    folder = cache() / "base"
    shutil.rmtree(folder, ignore_errors=True)
    include = f"--include={','.join(_PACKAGES)}"
    subprocess.run(
        ["debootstrap", "--variant=minbase", include, _SUITE, folder, _MIRROR], check=True, stdout=sys.stderr
    )
    for name in _LEFT_OUT:
        shutil.rmtree(folder / name, ignore_errors=True)
    part = archive.with_suffix(".part")
    subprocess.run(["tar", "-C", folder, "--sort=name", "--exclude=./dev/*", "-cf", part, "."], check=True)
    shutil.rmtree(folder)
    part.replace(archive)
    return archive


def make_context(folder: Path) -> None:
    """Fill a folder with what a build needs: the wheel and the files of deploy/images."""
    # The page as it lies: Node is not needed to try an image.
    wheel: list[str | Path] = [
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "--target",
        "wheel",
        "--directory",
        folder / "dist",
    ]
    subprocess.run(wheel, cwd=ROOT, check=True, stdout=sys.stderr, env=os.environ | {"MAGICBYTE_PAGE": "modules"})
    shutil.copytree(IMAGES, folder / "deploy" / "images")


def build(context: Path, layout: Path, *, version: str) -> None:
    """Build the image `magicbyte`, and write it to an OCI layout."""
    _import_base()
    # The build's network is this machine's: its authorities and pip's settings, which the image does not keep.
    shared = [path for path in ("/etc/ssl/certs", "/etc/pip.conf", "/etc/resolv.conf") if Path(path).exists()]
    wheels = cache() / "pip"
    wheels.mkdir(exist_ok=True)
    volumes = [*(f"{path}:{path}:ro" for path in shared), f"{wheels}:/root/.cache/pip:rw"]
    _buildah(
        *("build", "--isolation", "chroot", "--layers=false", "--format", "docker", "--timestamp", "1767225600"),
        *(f"--volume={volume}" for volume in volumes),
        *("--build-arg", f"BASE={_BASE}", "--build-arg", f"VERSION={version}"),
        *("--file", str(context / "deploy/images/magicbyte.Dockerfile"), "--tag", "localhost/magicbyte", str(context)),
    )
    _buildah("push", "localhost/magicbyte", f"oci:{layout}:magicbyte")


def docker_config() -> Mapping[str, Any]:
    """The image's config as a container engine reads it: the OCI's form has no place for the health check."""
    inspected = json.loads(_buildah("inspect", "--type", "image", "localhost/magicbyte"))
    config: Mapping[str, Any] = inspected["Docker"]["config"]
    return config


def _import_base() -> None:
    archive = base_archive()
    tag = f"{_BASE}:{archive.stem}"
    if _buildah("images", "--quiet", tag, check=False):
        _buildah("tag", tag, _BASE)
        return
    container = _buildah("from", "scratch")
    _buildah("add", container, str(archive), "/")
    _buildah("commit", "--timestamp", "1767225600", "--rm", container, tag)
    _buildah("tag", tag, _BASE)


def _buildah(*arguments: str, check: bool = True) -> str:
    """Run buildah on a storage of its own; returns what it prints."""
    storage = ["--root", str(cache() / "storage"), "--runroot", str(cache() / "run"), "--storage-driver", "vfs"]
    ran = subprocess.run(["buildah", *storage, *arguments], check=False, capture_output=True, text=True)
    if check and ran.returncode:
        raise SystemExit(f"buildah {arguments[0]} failed:\n{ran.stdout[-3000:]}{ran.stderr[-3000:]}")
    return ran.stdout.strip() if ran.returncode == 0 else ""
