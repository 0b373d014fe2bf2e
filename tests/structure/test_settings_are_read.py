"""Every setting is read somewhere: one that does nothing has to be refused instead.

A setting counts as read if code outside of its section's `problems` loads an attribute of its name, or has the name of
its property with dots as a text, or the end of it in an f-string. A name that two sections share counts as read for
both.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from magicbyte.kit.settings.kinds import text
from magicbyte.kit.settings.section import Section, setting, settings_of

PACKAGES = ("compat", "magicbyte", "registry", "rest_proxy", "serdes", "spark_avro")
#: Settings with one value, so that nothing has to read it.
ONE_VALUE = {
    "Unwrap.envelope": "debezium is the only envelope",
    "Trigger.available": "without every, the trigger is now",
    "Pipeline.audit": "true is refused",
}
#: Calls that declare settings.
_DECLARE = {"setting", "Field"}


class Names(ast.NodeVisitor):
    """The names that a module reads."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.ends: set[str] = set()
        self.functions: list[str] = []

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.functions.append(node.name)
        self.generic_visit(node)
        self.functions.pop()

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.ctx, ast.Load) and not any("problems" in name for name in self.functions):
            self.names.add(node.attr)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if not (isinstance(node.func, ast.Name) and node.func.id in _DECLARE):
            self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and "." in node.value:
            self.names.add(node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        last = node.values[-1] if node.values else None
        if len(node.values) > 1 and isinstance(last, ast.Constant):
            self.ends.add(str(last.value))
        self.generic_visit(node)


@pytest.fixture(scope="module")
def read() -> Names:
    names = Names()
    for package in PACKAGES:
        for file in Path(package).rglob("*.py"):
            names.visit(ast.parse(file.read_text()))
    return names


def subclasses(base: type) -> Iterator[Any]:
    for found in base.__subclasses__():
        yield found
        yield from subclasses(found)


def unread(owner: type, fields: dict[str, tuple[str, ...]], read: Names) -> list[str]:
    """The fields that nothing reads; each with its names in the file."""
    return [
        f"{owner.__name__}.{field}"
        for field, names in fields.items()
        if not {field, *names} & read.names and not field.endswith(tuple(end for end in read.ends if end[:1] == "_"))
    ]


def of_section(section: type[Section], read: Names) -> list[str]:
    return unread(section, {row.field: row.names for row in settings_of(section)}, read)


def test_every_setting_of_a_file_is_read(read: Names) -> None:
    importlib.import_module("spark_avro.pipeline.file.pipeline")
    importlib.import_module("magicbyte.check.config.config")
    importlib.import_module("serdes")
    sections = [section for section in subclasses(Section) if section.__module__.startswith(PACKAGES)]
    assert len(sections) > 50
    assert {name for section in sections for name in of_section(section, read)} == ONE_VALUE.keys()


def test_every_property_of_a_server_is_read(read: Names) -> None:
    for module in ("registry.settings", "rest_proxy.settings", "magicbyte.ui.settings"):
        importlib.import_module(module)
    models = [model for model in subclasses(BaseModel) if model.__module__.startswith(PACKAGES)]
    assert {"RegistrySettings", "RestProxySettings"} <= {model.__name__ for model in models}
    fields = {model: {name: (str(info.alias),) for name, info in model.model_fields.items()} for model in models}
    assert [name for model, names in fields.items() for name in unread(model, names, read)] == []


def test_a_setting_that_nothing_reads_is_found(read: Names) -> None:
    class Unused(Section):
        path: str = setting(text())
        never_looked_at: str = setting(text(), "A setting.", "never-looked" + "-at")

    assert of_section(Unused, read) == ["Unused.never_looked_at"]
