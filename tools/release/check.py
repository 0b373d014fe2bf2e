"""Check that this commit can be released: `make release-check`.

Clones the last commit and runs each step on the clone, so files that are not committed are not checked. Each step says
what it found. A step that fails names its remedy, and the others still run.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path

from tools.release import artifacts, dependencies, installs, sources, suites, versions, workflows
from tools.release.step import ROOT, Step, StepFailed, Work, run

STEPS = (
    Step("tree", sources.tree, "commit or remove these files: the check sees only what is committed"),
    Step("version", versions.version, "write the same version everywhere; `make openapi` writes it into openapi/"),
    Step("changelog", versions.changelog, "give CHANGELOG.md a heading `## VERSION (YYYY-MM-DD)` with this version"),
    Step("lock", sources.lock, "run `make lock` and commit the lock files"),
    Step("workflows", workflows.workflows, "run `make workflows-test` and repair the lines it names"),
    Step("lint", suites.lint, "run `make lint`", is_quick=False),
    Step("test", suites.core, "run `make test`", is_quick=False),
    Step("build", artifacts.build, "run `python -m build` twice with SOURCE_DATE_EPOCH and compare the archives"),
    Step("contents", artifacts.contents, "see [tool.check-wheel-contents] and [tool.hatch] in pyproject.toml"),
    Step("sbom", artifacts.sbom, "see tools/release/bill.py: the SBOM comes from the locked versions"),
    Step("pip", installs.pip, "install the wheel into an empty environment by hand"),
    Step("uv", installs.uv, "run `uv tool run --from WHEEL magicbyte --version`"),
    Step("pipx", installs.pipx, "run `pipx run --spec WHEEL magicbyte --version`"),
    Step("audit", dependencies.audit, "run `make lock ARGS=--upgrade`, or wait for the fixed version"),
    Step(
        "licences",
        dependencies.licences,
        "replace it, or accept its licence in tools/release/licences.toml",
    ),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the steps and return the exit code: 0 if all passed, 1 if one failed."""
    parser = argparse.ArgumentParser(
        prog="make release-check", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="leave out lint and the tests")
    names = [step.name for step in STEPS]
    parser.add_argument("--only", action="append", choices=names, metavar="STEP", help="run this step; repeatable")
    parser.add_argument("--dist", type=Path, metavar="DIR", help="copy the wheel and the sdist there if all steps pass")
    options = parser.parse_args(arguments)
    chosen = options.only or names
    steps = [step for step in STEPS if step.name in chosen and (step.is_quick or not options.quick)]
    with tempfile.TemporaryDirectory(prefix="magicbyte-release-") as folder:
        work = clone(Path(folder))
        failed = [step.name for step in steps if not _passes(step, work)]
        if failed:
            print(f"not ready: {', '.join(failed)} failed")
            return 1
        if options.dist is not None:
            artifacts.copy(work, options.dist)
    left_out = ", ".join(step.name for step in STEPS if step not in steps)
    print(f"magicbyte {work.version}: {len(steps)} steps passed" + (f"; left out: {left_out}" if left_out else ""))
    return 0


def clone(folder: Path) -> Work:
    """Clone the last commit into `folder`, with the tags.

    Raises:
        StepFailed: this is no git checkout.
    """
    source = folder / "source"
    run("git", "clone", "--quiet", "--no-hardlinks", ROOT, source)
    project = tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return Work(source, folder, project["version"])


def _passes(step: Step, work: Work) -> bool:
    begin = time.monotonic()
    try:
        outcome, found = "ok", step.run(work)
    except StepFailed as failure:
        outcome, found = "FAILED", f"{failure}\nremedy: {step.remedy}"
    first, *others = found.splitlines()
    print(f"{step.name:<10} {outcome:<6} {first} ({time.monotonic() - begin:.0f} s)", flush=True)
    for line in others:
        print(f"{'':<17} {line}", flush=True)
    return outcome == "ok"


if __name__ == "__main__":
    sys.exit(main())
