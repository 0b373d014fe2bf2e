"""The versions of the site: a folder each, `stable` for the newest release, and a list that every page reads."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

_VERSION = re.compile(r"\d+(\.\d+)*((a|b|rc|\.dev)\d+)?")
_START = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url=stable/">
<title>Magicbyte</title>
<p><a href="stable/">Documentation of Magicbyte</a></p>
<ul>{items}</ul>
</html>
"""


def publish(site: Path) -> str:
    """Write the list of versions and the start page of the site, and `stable`; return the version of `stable`.

    Args:
        site: the folder that has one folder for each version.

    """
    versions = sorted_versions([path.name for path in site.iterdir() if path.is_dir()])
    stable = next((version for version in versions if _is_release(version)), versions[0])
    shutil.rmtree(site / "stable", ignore_errors=True)
    # A copy, since many hosts of static pages do not keep symbolic links.
    shutil.copytree(site / stable, site / "stable")
    listed = json.dumps({"stable": stable, "versions": versions})
    (site / "versions.js").write_text(f"window.magicbyteVersions = {listed};\n", encoding="utf-8")
    items = "".join(f'<li><a href="{version}/">{version}</a></li>' for version in versions)
    (site / "index.html").write_text(_START.format(items=items), encoding="utf-8")
    return stable


def sorted_versions(names: Sequence[str]) -> list[str]:
    """Return the names that are versions, newest first; a release comes before its own candidates."""
    return sorted((name for name in names if _VERSION.fullmatch(name)), key=_order, reverse=True)


def _order(version: str) -> tuple[tuple[int, ...], bool, str]:
    numbers = re.match(r"\d+(\.\d+)*", version)
    assert numbers is not None
    return tuple(map(int, numbers[0].split("."))), _is_release(version), version


def _is_release(version: str) -> bool:
    return re.fullmatch(r"\d+(\.\d+)*", version) is not None
