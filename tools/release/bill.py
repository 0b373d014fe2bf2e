"""The wheel's bills of materials (SBOM): what pip installs with it, and the packages in its page.

CycloneDX files of the locked versions, for `dist-info/sboms/` (PEP 770). They depend on the Python and the platform
that makes them, since some requirements do.
"""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

from tools.release.step import TOOLS, Work, run

#: File -> the extras that it is about.
BILLS = {"magicbyte.cdx.json": (), "magicbyte-server.cdx.json": ("server",)}
PAGE = "magicbyte-page.cdx.json"


def write_bills(work: Work, folder: Path, *, epoch: str) -> None:
    """Write all bills.

    Args:
        work: The clone, and a folder for environments.
        folder: Where to write them; made.
        epoch: The seconds since 1970 for their timestamp.

    Raises:
        StepFailed: an environment could not be made, or cyclonedx-py failed.
    """
    folder.mkdir(parents=True)
    for name, extras in BILLS.items():
        environment = work.scratch / f"environment-{name}"
        run(TOOLS / "uv", "venv", "--quiet", "--python", sys.executable, environment)
        python = environment / "bin" / "python"
        install = ["pip", "install", "--quiet", "--python", str(python), "--constraints", str(work.constraints())]
        options = [word for extra in extras for word in ("--extra", extra)]
        run(TOOLS / "uv", *install, "--requirements", "pyproject.toml", *options, folder=work.source)
        command = ["environment", "--pyproject", "pyproject.toml", "--output-reproducible", "--short-PURLs"]
        command += ["--of", "JSON", "-o", str(folder / name), str(python)]
        run(TOOLS / "cyclonedx-py", *command, folder=work.source, SOURCE_DATE_EPOCH=epoch)
    (folder / PAGE).write_text(json.dumps(page_bill(work.source), indent=2) + "\n", encoding="utf-8")


def page_bill(source: Path) -> dict[str, Any]:
    """Return the bill of the npm packages that are bundled in the page."""
    vendor = json.loads((source / "magicbyte/ui/page/vendor/vendor.json").read_text(encoding="utf-8"))
    version = tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    components = [
        {
            "type": "library",
            "bom-ref": f"{name}@{version_of_package}",
            "name": name,
            "version": version_of_package,
            "purl": f"pkg:npm/{name.replace('@', '%40')}@{version_of_package}",
        }
        for name, version_of_package in sorted(vendor["packages"].items())
    ]
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {"type": "application", "bom-ref": "page", "name": "magicbyte-page", "version": version}
        },
        "components": components,
    }


def components(bill: str) -> dict[str, str]:
    """Return the distributions of a bill as `{normalized name: version}`."""
    return {normalized(entry["name"]): entry["version"] for entry in json.loads(bill).get("components", ())}


def normalized(name: str) -> str:
    """Return a distribution's name as PyPI normalizes it."""
    return name.lower().replace("_", "-").replace(".", "-")
