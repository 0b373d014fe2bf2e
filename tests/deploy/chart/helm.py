"""Helm for the tests of the chart: built once for each version, from its Go module, into the cache of this user.

The cache outlives `make clean`, because Helm takes minutes to build: `tools/helm-VERSION` in the folder of
`MAGICBYTE_CACHE`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from magicbyte.kit.failure import Failure, cache_folder

VERSION = "v3.22.0"
_MODULE = "helm.sh/helm/v3/cmd/helm"


class ToolMissing(Failure):
    """A tool of the chart's tests cannot be had on this machine; the text is one line."""


def helm() -> Path:
    """The path of Helm: that of MAGICBYTE_HELM, or the cached one of our version.

    Raises:
        ToolMissing: It is not there.
    """
    named = os.environ.get("MAGICBYTE_HELM")
    path = Path(named or _cached())
    if not path.is_file():
        raise ToolMissing(
            f"MAGICBYTE_HELM={path} is no file" if named else f"{path} is not built: run `make chart-test`"
        )
    return path


def ensure_helm() -> None:
    """Build Helm unless it is there.

    Raises:
        ToolMissing: There is no Go, or it cannot build Helm.
    """
    if os.environ.get("MAGICBYTE_HELM") or _cached().is_file():
        helm()
        return
    go = go_command()
    _cached().parent.parent.mkdir(parents=True, exist_ok=True)
    print(f"building Helm {VERSION}, which takes some minutes once ...", flush=True)
    # The cached folder appears as a whole, also if two runs build at once.
    with tempfile.TemporaryDirectory(dir=_cached().parent.parent) as folder:
        command = [go, "install", "-ldflags=-s -w", f"{_MODULE}@{VERSION}"]
        built = subprocess.run(
            command, env=os.environ | {"GOBIN": folder}, stderr=subprocess.PIPE, text=True, check=False
        )
        if built.returncode != 0:
            reason = (built.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise ToolMissing(f"`{' '.join(command)}` failed: {reason}")
        _cached().parent.mkdir(exist_ok=True)
        Path(folder, "helm").replace(_cached())


def go_command() -> str:
    """The `go` command.

    Raises:
        ToolMissing: It is not on PATH.
    """
    go = shutil.which("go")
    if go is None:
        raise ToolMissing("the chart's tests need Go on PATH, to build Helm; or set MAGICBYTE_HELM=/path/to/helm")
    return go


def _cached() -> Path:
    return cache_folder() / "tools" / f"helm-{VERSION}" / "helm"
