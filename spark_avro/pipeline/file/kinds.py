"""The kinds of single values in settings: each reads a node, and describes its values in JSON Schema and in words."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from magicbyte.kit.secret import hide_user_info, is_secret
from spark_avro.pipeline.file.field_path import FieldPath, PathError, parse_path
from spark_avro.pipeline.file.nodes import UNRESOLVED, ListNode, MapNode, Node, ScalarNode
from spark_avro.pipeline.file.place import Finding, Place, did_you_mean
from spark_avro.pipeline.file.sql_text import Sql, SqlRole, syntax_error


class Broken:
    """Stands for the value of a setting with a finding or an unresolved placeholder; later checks skip it."""

    __slots__ = ()


BROKEN = Broken()


@dataclass(slots=True)
class Reading:
    """The findings of a document while it is read."""

    findings: list[Finding] = field(default_factory=list)

    def report(self, place: Place, path: str, problem: str) -> Broken:
        """Add a finding, and return the value of its setting."""
        self.findings.append(Finding(place, path, problem))
        return BROKEN


class Kind(ABC):
    """What a setting takes."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What the setting takes, for messages and the reference: `a duration such as 30s`."""

    @abstractmethod
    def takes(self, node: Node) -> bool:
        """Whether a node has this kind's shape; its value may still be wrong."""

    @abstractmethod
    def read(self, node: Node, reading: Reading, path: str) -> Any:
        """The value of a node; BROKEN after a finding."""

    @abstractmethod
    def json_schema(self) -> dict[str, Any]:
        """The kind in JSON Schema."""

    def wrong(self, node: Node, reading: Reading, path: str) -> Broken:
        """Report that the node has the wrong shape."""
        return reading.report(node.place, path, f"must be {self.words}, not {shown(node, path)}")


def shown(node: Node, path: str) -> str:
    """The content of a node for messages, without secrets and values of placeholders."""
    if isinstance(node, MapNode):
        return "a mapping"
    if isinstance(node, ListNode):
        return "a list"
    if node.value is None and node.raw in ("", "~", "null"):
        return "null"
    return "this value" if is_secret(path.rpartition(".")[2]) else hide_user_info(repr(node.raw))


class ScalarKind(Kind):
    """A kind of single value; by default any value except null."""

    def takes(self, node: Node) -> bool:
        return isinstance(node, ScalarNode) and node.value is not None

    def read(self, node: Node, reading: Reading, path: str) -> Any:
        if not self.takes(node):
            return self.wrong(node, reading, path)
        assert isinstance(node, ScalarNode)
        return BROKEN if node.value is UNRESOLVED else self.read_scalar(node, reading, path)

    @abstractmethod
    def read_scalar(self, node: ScalarNode, reading: Reading, path: str) -> Any:
        """The value of a node with this kind's shape and resolved placeholders; BROKEN after a finding."""


#: The JSON Schema of a placeholder for a value that is not in the file.
_PLACEHOLDER = {"type": "string", "pattern": r"\$\{"}


@dataclass(frozen=True)
class Scalar(ScalarKind):
    """A scalar that a function converts; the function raises ValueError with the problem.

    Attributes:
        label: The kind in words, for `words`.
        convert: From the YAML value to the value.
        schema: The kind in JSON Schema.
        types: The types of YAML values that have this shape.
    """

    label: str
    convert: Callable[[Any], Any]
    schema: Mapping[str, Any]
    types: tuple[type, ...] = (str,)

    @property
    def words(self) -> str:
        return self.label

    def takes(self, node: Node) -> bool:
        if not isinstance(node, ScalarNode):
            return False
        return node.value is UNRESOLVED or (
            isinstance(node.value, self.types) and (bool in self.types or not isinstance(node.value, bool))
        )

    def read_scalar(self, node: ScalarNode, reading: Reading, path: str) -> Any:
        try:
            return self.convert(node.value)
        except ValueError as error:
            return reading.report(node.place, path, str(error) or f"must be {self.words}, not {shown(node, path)}")

    def json_schema(self) -> dict[str, Any]:
        return dict(self.schema) if self.schema == {"type": "string"} else {"anyOf": [dict(self.schema), _PLACEHOLDER]}


def text(label: str = "a text", *, pattern: str | None = None) -> Scalar:
    """A text, optionally one that matches a regular expression; a number counts as its text."""

    def convert(value: Any) -> str:
        if pattern is not None and not re.fullmatch(pattern, str(value)):
            raise ValueError
        return str(value)

    schema = {"type": "string"} if pattern is None else {"type": "string", "pattern": f"^(?:{pattern})$"}
    return Scalar(label, convert, schema, (str, int, float))


def flag() -> Scalar:
    """True or false."""
    return Scalar("true or false", bool, {"type": "boolean"}, (bool,))


def whole(least: int = 0, most: int | None = None) -> Scalar:
    """A whole number in a range."""
    label = f"a whole number of at least {least}" if most is None else f"a whole number from {least} to {most}"

    def convert(value: int) -> int:
        if value < least or (most is not None and value > most):
            raise ValueError
        return value

    schema = {"type": "integer", "minimum": least} | ({} if most is None else {"maximum": most})
    return Scalar(label, convert, schema, (int,))


def ratio() -> Scalar:
    """A share from 0 to 1."""

    def convert(value: float) -> float:
        if not 0 <= value <= 1:
            raise ValueError
        return float(value)

    return Scalar("a ratio from 0 to 1", convert, {"type": "number", "minimum": 0, "maximum": 1}, (int, float))


_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
_DURATION = re.compile(r"([0-9]+) ?(ms|s|m|h|d)")
_SIZE = re.compile(r"([0-9]+) ?(B|KB|MB|GB)")
_SIZES = {"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30}


def duration() -> Scalar:
    """A duration with its unit, as timedelta."""

    def convert(value: str) -> timedelta:
        match = _DURATION.fullmatch(value)
        if match is None:
            raise ValueError
        return timedelta(seconds=int(match[1]) * _UNITS[match[2]])

    schema = {"type": "string", "pattern": f"^{_DURATION.pattern}$"}
    return Scalar("a duration such as 30s, 10m, 2h or 7d", convert, schema)


def size() -> Scalar:
    """A size with its unit, in bytes."""

    def convert(value: str) -> int:
        match = _SIZE.fullmatch(value)
        if match is None:
            raise ValueError
        return int(match[1]) * _SIZES[match[2]]

    return Scalar("a size such as 128MB", convert, {"type": "string", "pattern": f"^{_SIZE.pattern}$"})


def instant() -> Scalar:
    """A time as ISO 8601, as a datetime with a zone; UTC if it names none."""

    def convert(value: str) -> datetime:
        moment = datetime.fromisoformat(value)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)

    def checked(value: str) -> datetime:
        try:
            return convert(value)
        except ValueError:
            raise ValueError from None

    return Scalar("a time such as 2026-01-01T00:00:00Z", checked, {"type": "string", "pattern": r"^\d{4}-\d\d-\d\d"})


def choice(*words: str) -> Scalar:
    """One of a fixed set of words."""

    def convert(value: Any) -> str:
        if str(value) not in words:
            raise ValueError(f"must be {' or '.join(words)}, not {value!r}{_near(str(value), words)}")
        return str(value)

    numbers = [int(word) for word in words if word.isdecimal()]
    return Scalar(" or ".join(words), convert, {"enum": [*words, *numbers]}, (str, int))


def _near(word: str, words: Sequence[str]) -> str:
    hint = did_you_mean(word, words)
    return hint if "did you mean" in hint else ""


def refused(reason: str) -> Scalar:
    """A setting that exists elsewhere and is refused here, with the reason."""

    def convert(_value: Any) -> Any:
        raise ValueError(reason)

    return Scalar("refused", convert, {"not": {}, "description": reason}, (str, int, float, bool, type(None)))


def null() -> Scalar:
    """Null."""
    return Scalar("null", lambda value: value, {"type": "null"}, (type(None),))


@dataclass(frozen=True)
class SqlText(ScalarKind):
    """SQL, as Sql with its place; without Spark only quotes, brackets and emptiness are checked."""

    role: SqlRole

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
