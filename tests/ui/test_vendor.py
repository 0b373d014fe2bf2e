"""The vendored libraries and fonts are the bytes that vendor.json names."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

PAGE = Path(__file__).parents[2] / "magicbyte" / "ui" / "page"
MANIFEST = json.loads((PAGE / "vendor" / "vendor.json").read_text())


def test_vendored_files_have_the_pinned_hashes() -> None:
    actual = {name: hashlib.sha256((PAGE / name).read_bytes()).hexdigest() for name in MANIFEST["sha256"]}
    assert actual == MANIFEST["sha256"]


def test_every_vendored_file_is_pinned() -> None:
    names = {f"vendor/{path.name}" for path in (PAGE / "vendor").iterdir() if path.suffix in {".js", ".txt"}}
    names |= {f"fonts/{path.name}" for path in (PAGE / "fonts").iterdir()}
    assert names == set(MANIFEST["sha256"])


def test_every_bundled_package_has_a_version_and_a_licence() -> None:
    licences = (PAGE / "vendor" / "LICENSES.txt").read_text()
    bundled = {name for packages in MANIFEST["bundles"].values() for name in packages}
    assert {"preact", "diff", "@codemirror/view"} <= bundled
    missing = [name for name in sorted(bundled) if f"\n{name} {MANIFEST['packages'][name]} (" not in licences]
    assert missing == []


def test_scripts_are_not_type_checked_but_have_types() -> None:
    for bundle in MANIFEST["bundles"]:
        script = PAGE / "vendor" / bundle
        assert script.read_text().startswith("// @ts-nocheck\n")
        assert script.with_suffix(".d.ts").exists()
