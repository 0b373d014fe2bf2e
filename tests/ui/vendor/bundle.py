"""Rebuilds the page's vendored libraries and fonts from the packages that vendor.json pins: `make vendor`.

Needs Node, npm and the network; the page itself, its tests and its lint need none of them.
esbuild's output is deterministic: without a changed pin the files and their hashes stay as they are.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ENTRIES = Path(__file__).resolve().parent
PAGE = ENTRIES.parents[2] / "magicbyte" / "ui" / "page"
MANIFEST = PAGE / "vendor" / "vendor.json"
RULE = "-" * 78


def main() -> None:
    """Install the pinned packages in a scratch folder, bundle them, and write the hashes."""
    npm = shutil.which("npm")
    if npm is None:
        sys.exit("make vendor needs Node and npm; the page and its tests need neither")
    manifest = json.loads(MANIFEST.read_text())
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        package = {"private": True, "type": "module", "dependencies": manifest["packages"]}
        (scratch / "package.json").write_text(json.dumps(package))
        install = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund"]
        subprocess.run(install, cwd=scratch, check=True)
        for bundle in manifest["bundles"]:
            _bundle(scratch, bundle)
        for font, path in manifest["fonts"].items():
            shutil.copyfile(scratch / "node_modules" / path, PAGE / "fonts" / font)
        (PAGE / "vendor" / "LICENSES.txt").write_text(_licenses(scratch, manifest))
    files = [f"vendor/{name}" for name in (*manifest["bundles"], "LICENSES.txt")]
    files += [f"fonts/{name}" for name in manifest["fonts"]]
    manifest["sha256"] = {file: hashlib.sha256((PAGE / file).read_bytes()).hexdigest() for file in files}
    MANIFEST.write_text(json.dumps(manifest, indent=2) + "\n")


def _bundle(scratch: Path, bundle: str) -> None:
    """Write one minified ES module: the head keeps deno from checking it, the licences are in LICENSES.txt."""
    entry = scratch / bundle.replace(".js", ".mjs")
    shutil.copyfile(ENTRIES / entry.name, entry)
    head = f'// @ts-nocheck\n// @ts-self-types="./{bundle.replace(".js", ".d.ts")}"\n// Bundled by make vendor.'
    command = [
        str(scratch / "node_modules" / ".bin" / "esbuild"),
        entry.name,
        "--bundle",
        "--minify",
        "--format=esm",
        "--target=es2022",
        "--legal-comments=none",
        "--charset=utf8",
        f"--banner:js={head}",
        f"--outfile={PAGE / 'vendor' / bundle}",
    ]
    subprocess.run(command, cwd=scratch, check=True)


def _licenses(scratch: Path, manifest: dict[str, dict[str, Any]]) -> str:
    """Return the licence text of each package that a bundle or a font contains."""
    contained = {name for bundle in manifest["bundles"].values() for name in bundle}
    contained |= {"/".join(path.split("/")[:2]) for path in manifest["fonts"].values()}
    parts = []
    for package in sorted(contained):
        folder = scratch / "node_modules" / package
        about = json.loads((folder / "package.json").read_text())
        texts = sorted(path for path in folder.iterdir() if path.name.upper().startswith("LICENSE"))
        if not texts:
            sys.exit(f"{package} has no licence file")
        text = "\n".join(path.read_text().strip() for path in texts)
        parts.append(f"{RULE}\n{package} {about['version']} ({about['license']})\n{RULE}\n\n{text}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    main()
