"""Pages of the public Python API: a page for each package, whose names Sphinx documents from their docstrings."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator, Mapping
from typing import Any

#: Page -> the package whose `__all__` it documents.
PACKAGES: Mapping[str, str] = {"serdes": "serdes", "spark": "spark_avro", "testing": "magicbyte.testing"}
#: The pytest fixtures are functions of this module.
_FIXTURES = "magicbyte.testing.plugin"
FIXTURES = (
    "schema_registry",
    "kafka_broker",
    "rest_proxy",
    "schema_registry_properties",
    "kafka_broker_properties",
    "rest_proxy_properties",
    "magicbyte_secure",
)


def python_page(package: str) -> str:
    """Return the page of a package in Markdown, with a directive of autodoc for each public name."""
    module = importlib.import_module(package)
    lines = [f"# Python: {package}\n", f"{inspect.getdoc(module)}\n"]
    lines += [f"```{{py:module}} {package}\n```\n"]
    for title, directive, names in _groups(module):
        lines.append(f"## {title}\n")
        for name in names:
            options = (
                "\n   :members:\n   :inherited-members: object, Exception, BaseException\n   :exclude-members: twin"
                * (directive == "autoclass")
            )
            lines.append(f"```{{eval-rst}}\n.. {directive}:: {package}.{name}{options}\n```\n")
    if package == "magicbyte.testing":
        lines += ["## Fixtures of the pytest plugin\n", f"{inspect.getdoc(importlib.import_module(_FIXTURES))}\n"]
        lines += [_fixture(name) for name in FIXTURES]
    return "\n".join(lines)


def _groups(module: Any) -> Iterator[tuple[str, str, list[str]]]:
    """The public names of a package, by what they are, each with the directive that documents it."""
    kinds: dict[str, list[str]] = {"Classes": [], "Functions": [], "Values": []}
    for name in sorted(module.__all__, key=str.lower):
        value = getattr(module, name)
        if inspect.ismodule(value):
            continue
        title = "Classes" if inspect.isclass(value) else "Functions" if callable(value) else "Values"
        kinds[title].append(name)
    directives = {"Classes": "autoclass", "Functions": "autofunction", "Values": "autodata"}
    for title, names in kinds.items():
        if names:
            yield title, directives[title], names


def _fixture(name: str) -> str:
    function = getattr(importlib.import_module(_FIXTURES), name)
    text = inspect.getdoc(getattr(function, "__wrapped__", None) or function._get_wrapped_function())  # noqa: SLF001
    return f"`{name}`\n: {text}\n"


def undocumented(package: str) -> list[str]:
    """Return the public functions, classes and methods of a package that have no docstring."""
    module = importlib.import_module(package)
    found = []
    for name in module.__all__:
        value = getattr(module, name)
        if (inspect.isclass(value) or inspect.isfunction(value)) and not inspect.getdoc(value):
            found.append(f"{package}.{name}")
        if inspect.isclass(value):
            found += [f"{package}.{name}.{method}" for method in _bare_methods(value)]
    return found


def _bare_methods(owner: type) -> Iterator[str]:
    for name, member in inspect.getmembers(owner):
        of_ours = (getattr(member, "__module__", None) or "").partition(".")[0] in ("serdes", "spark_avro", "magicbyte")
        if not name.startswith("_") and inspect.isroutine(member) and of_ours and not inspect.getdoc(member):
            yield name
