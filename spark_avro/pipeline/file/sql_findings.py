"""Findings of `lint` in the SQL of a pipeline file: texts that do not parse, and names of no table."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from sqlglot import exp

from magicbyte.kit.placeholders import placeholders_in
from magicbyte.kit.settings.place import Finding, nearest
from magicbyte.kit.settings.section import Section, settings_of
from spark_avro.pipeline.file.pipeline import Pipeline
from spark_avro.pipeline.file.place import LintFinding
from spark_avro.pipeline.file.sql_syntax import offset_of, parsed
from spark_avro.pipeline.file.sql_text import Sql, SqlRole
from spark_avro.pipeline.file.steps import Join, Python

#: Properties that give the session a catalog, whose tables have names that the file does not know.
_CATALOGS = ("spark.sql.catalogImplementation", "spark.sql.defaultCatalog", "spark.sql.warehouse.dir")


def sql_findings(pipeline: Pipeline) -> Iterator[LintFinding]:
    """Find faults in the SQL of a pipeline, as far as possible without Spark."""
    trees: dict[int, Any] = {}
    for text in _texts(pipeline):
        if placeholders_in(text.text):
            continue
        result = parsed(text.text, text.role)
        trees[id(text)] = result.tree
        if result.problem:
            hint = "; if a name is meant, write it in backquotes" if result.doubtful else ""
            yield LintFinding(_at(text, result.offset, f"{result.problem}{hint}"), refused=not result.doubtful)
        elif text.role is SqlRole.QUERY and result.tree is not None:
            yield from _query_findings(pipeline, text, result.tree)
    for step in pipeline.steps:
        if isinstance(step, Join) and isinstance(step.condition, Sql):
            tree = trees.get(id(step.condition))
            if tree is not None:
                yield from _qualifier_findings(step.condition, tree, {"this", step.other})


def _texts(value: Any) -> Iterator[Sql]:
    """All SQL in a value of settings."""
    if isinstance(value, Sql):
        yield value
    elif isinstance(value, Section):
        for row in settings_of(type(value)):
            yield from _texts(getattr(value, row.field))
    elif isinstance(value, tuple):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)


def _query_findings(pipeline: Pipeline, text: Sql, tree: Any) -> Iterator[LintFinding]:
    tables = [node for node in tree.find_all(exp.Table) if isinstance(node.this, exp.Identifier)]
    aliases = {str(name).lower() for name in _aliases(tree)}
    if not _has_catalog(pipeline):
        own = {"this", *pipeline.tables}
        known = {name.lower() for name in own} | {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
        for node in tables:
            if not node.db and node.name.lower() not in known:
                hint = nearest(node.name, own) or _elsewhere(pipeline, node.name)
                finding = _at(text, offset_of(node.this, text.role), f"there is no table {node.name}{hint}")
                yield LintFinding(finding, refused=True)
    yield from _qualifier_findings(text, tree, aliases | {node.name.lower() for node in tables if not node.alias})


def _elsewhere(pipeline: Pipeline, name: str) -> str:
    if name in pipeline.streams:
        return f"; {name} is a stream, which the step join reads"
    return f"; name it under tables, or write a table of the session's catalog with its database: default.{name}"


def _has_catalog(pipeline: Pipeline) -> bool:
    """Whether queries may name tables that the file does not: a catalog has them, or a function makes views."""
    return any(name in pipeline.spark for name in _CATALOGS) or any(isinstance(step, Python) for step in pipeline.steps)


def _aliases(tree: Any) -> Iterator[str]:
    for node in tree.find_all(exp.TableAlias):
        if node.name:
            yield node.name


def _qualifier_findings(text: Sql, tree: Any, known: Collection[str]) -> Iterator[LintFinding]:
    """Names before a dot that are near to a table's name that the text does not use: `custmers.id`.

    They are cautions, since such a name may also be a struct.
    """
    used = {column.parts[0].name.lower(): column.parts[0] for column in tree.find_all(exp.Column) if column.table}
    unused = {name for name in known if name.lower() not in used}
    for name, node in used.items():
        hint = nearest(name, unused) if name not in {item.lower() for item in known} else ""
        if hint:
            finding = _at(text, offset_of(node, text.role), f"{name} is no table{hint}")
            yield LintFinding(finding, refused=False)


def _at(text: Sql, offset: int, problem: str) -> Finding:
    return Finding(text.within(offset), text.setting, problem)
