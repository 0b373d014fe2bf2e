"""The steps about the dependencies: their known vulnerabilities and their licences."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from tools.release.bill import normalized
from tools.release.step import TOOLS, StepFailed, Work, run

_LIST = Path(__file__).with_name("licences.toml")


def audit(work: Work) -> str:
    """Look the locked dependencies up in the database of known vulnerabilities."""
    script = work.source / "tools" / "audit.py"
    return run(TOOLS / "python", "-P", script, "--strict").strip()


def licences(work: Work) -> str:
    """Check that each dependency of `magicbyte[all]` has a licence of the list."""
    accepted = tomllib.loads(_LIST.read_text(encoding="utf-8"))
    project = tomllib.loads((work.source / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    distributions = closure(project)
    wrong = []
    for name, installed in sorted(distributions.items()):
        texts = stated(installed.metadata.get_all("Classifier") or (), installed.metadata)
        problem = refused(name, texts, accepted)
        if problem:
            wrong.append(f"{name} {installed.version}: {problem}")
    if wrong:
        raise StepFailed(f"{len(wrong)} dependencies have a licence that is not accepted:\n" + "\n".join(wrong))
    exceptions = ", ".join(sorted(accepted["exceptions"].keys() & distributions.keys()))
    return f"{len(distributions)} dependencies have accepted licences; by exception: {exceptions}"


def closure(project: Mapping[str, Any]) -> dict[str, Distribution]:
    """Return the distributions that the extra `all` of a `[project]` table needs, as they are installed here."""
    waiting = [Requirement(f"{project['name']}[all]")]
    found: dict[str, Distribution] = {}
    known: set[str] = set()
    while waiting:
        requirement = waiting.pop()
        if str(requirement) in known:
            continue
        known.add(str(requirement))
        name = normalized(requirement.name)
        if name == project["name"]:
            own = project["optional-dependencies"]
            lines = [*project["dependencies"], *(line for extra in requirement.extras for line in own[extra])]
        else:
            try:
                found[name] = distribution(name)
            except PackageNotFoundError:
                raise StepFailed(f"{name} is not installed in the environment of this check: run `make lint`") from None
            lines = found[name].requires or []
        for line in lines:
            needed = Requirement(line)
            extras = requirement.extras or {""}
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in extras):
                waiting.append(needed)
    return found


def stated(classifiers: Iterable[str], metadata: Any) -> list[str]:
    """Return the licences that a distribution states: its expression, else its classifiers, else its free text."""
    expression = metadata.get("License-Expression")
    if expression:
        return [str(expression)]
    named = [text.rpartition(" :: ")[2] for text in classifiers if text.startswith("License :: ")]
    free = str(metadata.get("License") or "").strip().splitlines()
    return named or free[:1]


def refused(name: str, texts: list[str], accepted: Mapping[str, Any]) -> str:
    """Return why a licence is not accepted; empty if it is.

    An expression is accepted if all licences of an AND and one of an OR are in the list. Several classifiers are read
    as an AND.

    Args:
        name: The distribution.
        texts: The licences that it states.
        accepted: licences.toml.
    """
    if name in accepted["exceptions"]:
        expected = accepted["exceptions"][name]["licence"]
        return "" if expected in texts else f"{' and '.join(texts)}, accepted only under {expected}"
    if not texts:
        return "it states none"
    bad = [text for text in texts if not _is_accepted(text, accepted)]
    return " and ".join(bad)


def _is_accepted(text: str, accepted: Mapping[str, Any]) -> bool:
    if text in accepted["texts"]:
        return True
    flat = re.sub(r"[()]", "", text)
    return all(
        any(choice.strip() in accepted["spdx"] for choice in re.split(r"\bOR\b", part))
        for part in re.split(r"\bAND\b", flat)
    )
