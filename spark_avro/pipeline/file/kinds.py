"""The kinds of values that only pipelines have: SQL, paths of fields, and properties of Kafka's clients."""

from __future__ import annotations

from magicbyte.kit.settings.compound import ListOf, MapOf, properties
from magicbyte.kit.settings.kinds import ProblemError, Scalar
from magicbyte.kit.settings.nodes import ScalarNode
from magicbyte.kit.settings.urls import brokers
from spark_avro.pipeline.file.field_path import FieldPath, parse_path
from spark_avro.pipeline.file.sql_text import Sql, SqlRole, syntax_error


def sql(role: SqlRole = SqlRole.EXPRESSION) -> Scalar:
    """SQL, as Sql with its place; without Spark only quotes, brackets and emptiness are checked."""

    def read(node: ScalarNode, path: str) -> Sql:
        text = node.raw if isinstance(node.value, bool | int | float) else str(node.value)
        problem = syntax_error(text)
        if problem is not None:
            offset, why = problem
            raise ProblemError(why, offset)
        return Sql(text, role, path, node.within)

    shapes = (str, int, float, bool)
    return Scalar(role.value, {"type": ["string", "number", "boolean"]}, shapes=shapes, with_node=read)


def field_path() -> Scalar:
    """The path of a field, as FieldPath: dots into structs, backquotes around names with other characters."""

    def read(node: ScalarNode, path: str) -> FieldPath:
        return FieldPath(parse_path(str(node.value)), node.place, path)

    label = "the path of a field such as passenger.email"
    return Scalar(label, {"type": "string"}, shapes=(str, int, float, bool), with_node=read)


def kafka_properties() -> MapOf:
    """Properties of Kafka's clients by Java's names."""
    return properties({BROKERS: brokers()})


#: The property that names the brokers.
BROKERS = "bootstrap.servers"
#: One path, or several.
PATHS = ListOf(field_path(), least=1, or_one=True)
#: One column or expression with a name, or several.
ITEMS = ListOf(sql(SqlRole.ITEM), least=1, or_one=True)
