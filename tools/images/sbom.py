"""Writes the bill of materials of an unpacked image, as CycloneDX: its Python distributions and Debian's packages.

python -P tools/images/sbom.py ROOT NAME VERSION > magicbyte.cdx.json
"""

from __future__ import annotations

import email.parser
import json
import re
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

_LABEL = re.compile(r"[A-Za-z0-9.+-]+")
Component = dict[str, Any]


def bill(root: Path, name: str, version: str) -> dict[str, Any]:
    """The bill of materials of an image.

    Args:
        root: Its files.
        name: Its name.
        version: Its version.
    """
    components = sorted([*_distributions(root), *_packages(root)], key=lambda component: str(component["purl"]))
    text = json.dumps(components)
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        # Equal contents have an equal number, so that a build can be repeated.
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'{name}@{version} {text}')}",
        "version": 1,
        "metadata": {"component": {"type": "container", "bom-ref": name, "name": name, "version": version}},
        "components": components,
    }


def _distributions(root: Path) -> Iterator[Component]:
    for path in (*root.glob("venv/lib/python3*/site-packages/*.dist-info/METADATA"),):
        metadata = email.parser.HeaderParser().parsestr(path.read_text(encoding="utf-8"))
        name, version = re.sub(r"[-_.]+", "-", metadata["Name"]).lower(), metadata["Version"]
        component = _component(name, version, f"pkg:pypi/{quote(name)}@{quote(version)}")
        expression = metadata["License-Expression"]
        stated = metadata["License"] or ""
        if expression:
            component["licenses"] = [{"expression": expression}]
        elif _LABEL.fullmatch(stated):
            component["licenses"] = [{"license": {"name": stated}}]
        yield component


def _packages(root: Path) -> Iterator[Component]:
    status = root / "var/lib/dpkg/status"
    text = status.read_text(encoding="utf-8") if status.exists() else ""
    for paragraph in text.split("\n\n"):
        fields = dict(re.findall(r"^([A-Z][\w-]*): (.*)$", paragraph, re.MULTILINE))
        if fields.get("Status") == "install ok installed":
            name, version = fields["Package"], fields["Version"]
            purl = f"pkg:deb/debian/{quote(name)}@{quote(version, safe='')}?arch={fields['Architecture']}"
            yield _component(name, version, purl)


def _component(name: str, version: str, purl: str) -> Component:
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(bill(Path(sys.argv[1]), sys.argv[2], sys.argv[3]), indent=1) + "\n")
