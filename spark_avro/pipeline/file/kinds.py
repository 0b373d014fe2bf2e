"""The kinds of values that only pipelines have: SQL, and paths of fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from magicbyte.kit.settings.compound import ListOf
from magicbyte.kit.settings.kinds import Reading, ScalarKind
from magicbyte.kit.settings.nodes import ScalarNode
from spark_avro.pipeline.file.field_path import FieldPath, PathError, parse_path
from spark_avro.pipeline.file.sql_text import Sql, SqlRole, syntax_error


@dataclass(frozen=True)
class SqlText(ScalarKind):
    """SQL, as Sql with its place; without Spark only quotes, brackets and emptiness are checked."""

    role: SqlRole = SqlRole.EXPRESSION

    @property
    def words(self) -> str:
        return self.role.value

    def read_scalar(self, node: ScalarNode, reading: Reading, path: str) -> Any:
        sql = node.raw if isinstance(node.value, bool | int | float) else str(node.value)
        problem = syntax_error(sql)
        if problem is not None:
            offset, why = problem
            return reading.report(node.within(offset), path, why)
        return Sql(sql, self.role, path, node.within)

    def json_schema(self) -> dict[str, Any]:
        return {"type": ["string", "number", "boolean"]}


@dataclass(frozen=True)
class PathText(ScalarKind):
    """The path of a field, as FieldPath: dots into structs, backquotes around names with other characters."""

    @property
    def words(self) -> str:
        return "the path of a field such as passenger.email"

    def read_scalar(self, node: ScalarNode, reading: Reading, path: str) -> Any:
        try:
            return FieldPath(parse_path(str(node.value)), node.place, path)
        except PathError as error:
            return reading.report(node.place, path, str(error))

    def json_schema(self) -> dict[str, Any]:
        return {"type": "string"}


#: One path, or several.
PATHS = ListOf(PathText(), least=1, or_one=True)
#: One column or expression with a name, or several.
ITEMS = ListOf(SqlText(SqlRole.ITEM), least=1, or_one=True)
