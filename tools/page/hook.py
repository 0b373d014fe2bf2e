"""The build hook of the wheel: it builds the page with Node, or leaves the modules as they lie.

The wheel's page is what `build.mjs` makes of `magicbyte/ui/page`. Without npm on PATH, or with MAGICBYTE_PAGE=modules,
the wheel has the modules themselves: they work the same, in more and larger requests.

MAGICBYTE_SBOM names a folder of SBOMs for the wheel's `dist-info/sboms/`; a release has them (tools/release/bill.py).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE = "magicbyte/ui/page"
SETTING = "MAGICBYTE_PAGE"
SBOM = "MAGICBYTE_SBOM"
_FILES = ("build.mjs", "package.json")


class PageHook(BuildHookInterface[Any]):
    """Puts the built page into the wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the page; an editable install serves the modules of the checkout.

        Args:
            version: `standard` or `editable`.
            build_data: What the wheel will contain; the page's folder is added.

        Raises:
            SystemExit: Node did not build the page.
        """
        if version == "editable":
            return
        if os.environ.get(SBOM):
            build_data["sbom_files"] += map(str, sorted(Path(os.environ[SBOM]).resolve().glob("*.json")))
        npm = shutil.which("npm")
        if npm is None or os.environ.get(SETTING) == "modules":
            self.app.display_warning("the wheel has the page's modules as they lie: building the page needs npm")
            build_data["force_include"][str(ROOT / PAGE)] = PAGE
            return
        self._scratch = tempfile.TemporaryDirectory()
        build_data["force_include"][str(build_page(Path(self._scratch.name), npm))] = PAGE

    def finalize(self, _version: str, _build_data: dict[str, Any], _artifact_path: str) -> None:
        """Delete the built page: the wheel has it."""
        if hasattr(self, "_scratch"):
            self._scratch.cleanup()


def build_page(scratch: Path, npm: str) -> Path:
    """Install the bundler that package.json pins, and run it.

    Args:
        scratch: An empty folder.
        npm: The npm command.

    Returns:
        The folder of the built page, inside `scratch`.

    Raises:
        SystemExit: npm or Node failed.
    """
    for name in _FILES:
        shutil.copyfile(HERE / name, scratch / name)
    install = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--prefer-offline"]
    target = scratch / "page"
    for command in (install, ["node", "build.mjs", str(ROOT / PAGE), str(target)]):
        ran = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            print(ran.stdout, ran.stderr, sep="\n", file=sys.stderr)
            sys.exit(
                f"{Path(command[0]).name} did not build the page; it needs Node 20.19 or newer and npm's registry. "
                f"{SETTING}=modules leaves the modules as they lie"
            )
    return target
