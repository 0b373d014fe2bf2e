"""The steps about the sources: nothing is uncommitted, and the lock files fit the requirements."""

from __future__ import annotations

import re
import shutil

from tools.release.step import ROOT, TOOLS, StepFailed, Work, run

#: Lock file -> what it is made of, and the options of `uv pip compile`; as in `make lock`.
LOCKS = {
    "requirements.lock": ("pyproject.toml", "--extra", "dev"),
    "deploy/requirements.lock": ("deploy/requirements.in",),
}


def tree(work: Work) -> str:
    """Check that the checkout has no changes that the clone lacks."""
    changes = run("git", "status", "--porcelain", folder=ROOT).splitlines()
    if changes:
        names = "\n".join(changes[:8])
        raise StepFailed(f"{len(changes)} files differ from the last commit:\n{names}")
    commit = run("git", "log", "-1", "--format=%h %s", folder=work.source).strip()
    return f"a clean clone of {commit}"


def lock(work: Work) -> str:
    """Check that each lock file fits its requirements, and that each version has hashes."""
    counts = []
    for name, (requirements, *options) in LOCKS.items():
        path = work.source / name
        text = path.read_text(encoding="utf-8")
        unhashed = without_hash(text)
        if unhashed:
            raise StepFailed(f"{name} has no hash for {', '.join(unhashed[:5])}")
        fresh = work.scratch / "fresh.lock"
        shutil.copyfile(path, fresh)
        command = ["pip", "compile", "--quiet", "--universal", "--generate-hashes", "--python-version", "3.11"]
        command += ["--no-header", "--no-annotate", *options, requirements, "-o", str(fresh)]
        run(TOOLS / "uv", *command, folder=work.source)
        if fresh.read_text(encoding="utf-8") != text:
            raise StepFailed(f"{name} does not fit {requirements}")
        counts.append(f"{name}: {len(re.findall(r'^[^ #].*==', text, re.MULTILINE))} versions with hashes")
    return "; ".join(counts)


def without_hash(text: str) -> list[str]:
    """Return the requirements of a lock file that have no hash."""
    requirements = re.split(r"\n(?=[^ #\n])", text.strip())
    return [entry.split()[0] for entry in requirements if entry and "--hash=sha256:" not in entry]
