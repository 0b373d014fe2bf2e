"""The steps that run the checkout's own suites in the clone, with its own environment."""

from __future__ import annotations

from tools.release.step import Work, run


def lint(work: Work) -> str:
    """Run `make lint`; the environment comes from requirements.lock with its hashes."""
    run("make", "lint", folder=work.source)
    return "ruff, import-linter, mypy --strict and Deno find nothing; the environment came from requirements.lock"


def core(work: Work) -> str:
    """Run `make test`."""
    lines = run("make", "test", folder=work.source).strip().splitlines()
    return lines[-1].strip("= ") if lines else "no output"
