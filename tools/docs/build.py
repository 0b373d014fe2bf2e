"""Builds the documentation site into dist/docs/VERSION: `make docs`.

It runs in an environment of its own, .venv-docs, which sees the packages of .venv, too: the pages of the Python API are
made from the code.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import tomllib
from pathlib import Path

from tools.docs.external_loads import of_site
from tools.docs.llms import write_llms
from tools.docs.staging import ROOT, stage
from tools.docs.versions import publish

#: The repository of a checkout whose pyproject.toml names none.
REPOSITORY = "https://github.com/magicbyte/magicbyte"
_HERE = Path(__file__).parent


def main() -> int:
    """Build the site; the exit code is 1 if Sphinx warns of anything, or if a page loads something from elsewhere."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=ROOT / "dist" / "docs", help="the folder of all versions")
    arguments = parser.parse_args()
    begun = time.monotonic()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = project["version"]
    work = ROOT / "build" / "docs"
    repository = project.get("urls", {}).get("Repository", REPOSITORY)
    sections = stage(work / "source", version, repository)
    built = arguments.into / version
    code = _sphinx(work, built, version, repository)
    if code:
        return code
    loads = list(of_site(built))
    if loads:
        print("\n".join(loads), file=sys.stderr)
        return 1
    write_llms(work / "source", built, sections)
    stable = publish(arguments.into)
    pages = sum(map(len, sections.values())) + 1
    print(f"{built}: {pages} pages in {time.monotonic() - begun:.0f} s; stable is {stable}")
    return 0


def _sphinx(work: Path, built: Path, version: str, repository: str) -> int:
    """Run sphinx-build; any warning is an error, and all are printed.

    All pages are written: each has the list of all pages beside it, which Sphinx does not count as a dependency.
    """
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "sphinx",
        "-n",
        "-W",
        "-a",
        "-q",
        "-c",
        _HERE,
        "-d",
        work / "doctrees",
    ]
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "MAGICBYTE_DOCS_VERSION": version,
        "MAGICBYTE_DOCS_REPOSITORY": repository,
    }
    return subprocess.run([*command, work / "source", built], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
