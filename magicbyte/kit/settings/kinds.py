"""The kinds of single values in settings: each checks a node, and describes its values in JSON Schema and in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from magicbyte.kit.secret import hide_user_info, is_secret
from magicbyte.kit.settings import patterns
from magicbyte.kit.settings.nodes import BROKEN, UNRESOLVED, KeptText, ListNode, MapNode, Node, NoValue, ScalarNode
from magicbyte.kit.settings.place import Finding, Place, nearest


class Reading(Struct):
    """The findings of a document while it is read.

    Attributes:
        findings: The findings so far.
        unknown: The problem of a setting that does not exist.
        parses: Whether a text may stand for a number or truth value, as in properties.
        unresolved: How many settings are UNRESOLVED so far.
    """

    findings: list[Finding] = msgspec.field(default_factory=list)
    unknown: str = "no such setting"
    parses: bool = False
    unresolved: int = 0

    def report(self, place: Place, path: str, problem: str) -> NoValue:
        """Add a finding, and return the value of its setting."""
        self.findings.append(Finding(place, path, problem))
        return BROKEN


class Kind(Struct):
    """A kind of values that a setting takes; a subclass has all of its methods."""

    @property
    def words(self) -> str:
        """The values that the setting takes, for messages and the reference: `a duration such as 30s`."""
        raise NotImplementedError

    def takes(self, node: Node) -> bool:
        """Whether a node has this kind's shape; its value may still be wrong."""
        raise NotImplementedError

    def read(self, node: Node, reading: Reading, path: str) -> Any:
        """The value of a node; BROKEN after a finding."""
        raise NotImplementedError

    def json_schema(self) -> dict[str, Any]:
        """The kind in JSON Schema."""
        raise NotImplementedError

    def inner(self) -> Iterator[tuple[Kind, str]]:
        """The kinds in this one, and what each adds to the path of a setting."""
        return iter(())

    def written(self, value: Any) -> Any:
        """The value as a file has it, of mappings, lists, texts, numbers and truth values."""
        return value if isinstance(value, bool | int | float) or value is None else str(value)

    def wrong(self, node: Node, reading: Reading, path: str) -> NoValue:
        """Report that the node has the wrong shape."""
        return reading.report(node.place, path, f"must be {self.words}, not {shown(node, path)}")


def join_path(path: str, name: str) -> str:
    """The path of a setting in a section."""
    return f"{path}.{name}" if path and name else path or name


def shown(node: Node, path: str) -> str:
    """The content of a node for messages, without secrets and values of placeholders."""
    if isinstance(node, MapNode):
        return "a mapping"
    if isinstance(node, ListNode):
        return "a list"
    if node.value is None and node.raw in ("", "~", "null", None):
        return "null"
    return "this value" if is_secret(path) else hide_user_info(repr(node.raw))


#: The JSON Schema of a placeholder for a value that is not in the file.
PLACEHOLDER = {"type": "string", "pattern": r"\$\{"}


class ProblemError(ValueError):
    """A problem of a value that the words of its kind do not tell, with its offset in the value's text."""

    def __init__(self, problem: str, offset: int | None = None) -> None:
        self.offset = offset
        super().__init__(problem)


class Scalar(Kind):
    """A scalar that a function converts.

    Attributes:
        label: The kind in words, for `words`.
        schema: The kind in JSON Schema.
        convert: From the value in the file to the value; raises ValueError or LookupError; ProblemError tells why.
        shapes: The types of values in the file that have this shape.
        parse: From a text to a value for `convert`, where texts may stand for it.
        texts: The pattern of these texts.
        write: From the value to that in the file, for the reference.
        with_node: Instead of `convert`, for values that know their places: from a node and a setting's path.
    """

    label: str
    schema: Mapping[str, Any]
    convert: Callable[[Any], Any] = lambda value: value
    shapes: tuple[type, ...] = (str,)
    parse: Callable[[str], Any] | None = None
    texts: str = ""
    write: Callable[[Any], Any] | None = None
    with_node: Callable[[ScalarNode, str], Any] | None = None

    @property
    def words(self) -> str:
        return self.label

    def takes(self, node: Node) -> bool:
        return isinstance(node, ScalarNode) and (
            node.value is UNRESOLVED or isinstance(node.value, KeptText) or self._has_shape(node.value)
        )

    def _has_shape(self, value: Any) -> bool:
        return isinstance(value, self.shapes) and (bool in self.shapes or not isinstance(value, bool))

    def read(self, node: Node, reading: Reading, path: str) -> Any:
        parses = reading.parses and self.parse is not None
        if not isinstance(node, ScalarNode) or not (parses or self.takes(node)):
            return self.wrong(node, reading, path)
        if node.value is UNRESOLVED:
            return BROKEN
        if isinstance(node.value, KeptText):
            return self._kept(node, reading, path)
        try:
            return self._converted(node, path)
        except ProblemError as problem:
            place = node.place if problem.offset is None else node.within(problem.offset)
            return reading.report(place, path, str(problem))
        except (ValueError, LookupError):
            return self.wrong(node, reading, path)

    def _kept(self, node: ScalarNode, reading: Reading, path: str) -> Any:
        """The text if it is a value of this kind; or UNRESOLVED, since the placeholder may stand for a value of it."""
        try:
            if self._has_shape(node.value):
                return self._converted(node, path)
        except (ValueError, LookupError):
            pass
        reading.unresolved += 1
        return UNRESOLVED

    def _converted(self, node: ScalarNode, path: str) -> Any:
        return self.with_node(node, path) if self.with_node is not None else self.convert(self._parsed(node.value))

    def _parsed(self, value: Any) -> Any:
        return value if self.parse is None or self._has_shape(value) or isinstance(value, bool) else self.parse(value)

    def json_schema(self) -> dict[str, Any]:
        is_text = self.schema.keys() == {"type"} and "string" in self.schema["type"]
        return dict(self.schema) if is_text else {"anyOf": [dict(self.schema), PLACEHOLDER]}

    def written(self, value: Any) -> Any:
        return super().written(value) if self.write is None else self.write(value)


def _checked(label: str, kind: Any, shapes: tuple[type, ...], parse: Callable[[str], Any], texts: str) -> Scalar:
    """A kind whose type and bounds msgspec checks and describes."""
    return Scalar(label, msgspec.json.schema(kind), lambda value: msgspec.convert(value, kind), shapes, parse, texts)


def matching(
    label: str,
    pattern: str,
    convert: Callable[[re.Match[str]], Any] = lambda match: match[0],
    *,
    shapes: tuple[type, ...] = (str,),
    write: Callable[[Any], Any] | None = None,
) -> Scalar:
    """A text that matches a regular expression, which `convert` turns into the value."""

    def converted(value: Any) -> Any:
        match = re.fullmatch(pattern, str(value))
        if match is None:
            raise ValueError
        return convert(match)

    return Scalar(label, {"type": "string", "pattern": f"^{pattern}$"}, converted, shapes, write=write)


def text(label: str = "a text", *, pattern: str | None = None, numbers: bool = True) -> Scalar:
    """A text, optionally one that matches a regular expression; a number counts as its text, if `numbers` says so."""
    shapes: tuple[type, ...] = (str, int, float) if numbers else (str,)
    if pattern is None:
        return Scalar(label, {"type": "string"}, str, shapes)
    return matching(label, f"(?:{pattern})", shapes=shapes)


def flag() -> Scalar:
    """True or false."""
    return _checked("true or false", bool, (bool,), lambda text: _TRUTH[str(text).lower()], patterns.words(*_TRUTH))


def whole(least: int | None = 0, most: int | None = None) -> Scalar:
    """A whole number in a range; any if both bounds are None."""
    label = f"a whole number of at least {least}" if most is None else f"a whole number from {least} to {most}"
    kind = Annotated[int, Meta(ge=least, le=most)]
    label = "an integer" if least is None else label
    return _checked(label, kind, (int,), lambda value: int(str(value)), patterns.INTEGER)


def real() -> Scalar:
    """Any number."""
    return _checked("a number", float, (int, float), float, patterns.NUMBER)


def ratio() -> Scalar:
    """A share from 0 to 1."""
    return _checked("a ratio from 0 to 1", Annotated[float, Meta(ge=0, le=1)], (int, float), float, patterns.NUMBER)


_TRUTH = {"true": True, "false": False, "1": True, "0": False}
_MILLISECONDS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_SIZES = {"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30}


def duration() -> Scalar:
    """A duration with its unit, as timedelta."""
    return matching(
        "a duration such as 30s, 10m, 2h or 7d",
        "([0-9]+) ?(ms|s|m|h|d)",
        lambda match: timedelta(milliseconds=int(match[1]) * _MILLISECONDS[match[2]]),
        write=lambda span: _in_units(round(span.total_seconds() * 1000), _MILLISECONDS) if span else "0s",
    )


def size() -> Scalar:
    """A size with its unit, in bytes."""
    return matching(
        "a size such as 128MB",
        "([0-9]+) ?(B|KB|MB|GB)",
        lambda match: int(match[1]) * _SIZES[match[2]],
        write=lambda number: _in_units(number, _SIZES),
    )


def _in_units(number: int, units: Mapping[str, int]) -> str:
    """A number in the greatest unit of which it is a multiple."""
    unit = max((unit for unit in units if number % units[unit] == 0), key=lambda unit: units[unit])
    return f"{number // units[unit]}{unit}"


def instant() -> Scalar:
    """A time as ISO 8601, as a datetime with a zone; UTC if it names none."""

    def convert(value: str) -> datetime:
        moment = datetime.fromisoformat(value)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)

    return Scalar("a time such as 2026-01-01T00:00:00Z", {"type": "string", "pattern": r"^\d{4}-\d\d-\d\d"}, convert)


def choice(*words: str, spell: Callable[[Any], str] = str, value_of: Callable[[str], Any] = str) -> Scalar:
    """One of a fixed set of words.

    Args:
        words: The words.
        spell: From the value in the file to the spelling of `words`.
        value_of: From the word to the value.
    """

    def convert(value: Any) -> Any:
        word = spell(value)
        if word not in words:
            raise ProblemError(f"must be {' or '.join(words)}, not {value!r}{nearest(word, words)}")
        return value_of(word)

    numbers = [int(word) for word in words if word.removeprefix("-").isdecimal()]
    schema: dict[str, Any] = {"enum": [*words, *numbers]}
    if spell("aA") != "aA":
        # Editors propose the words of `enum`; other spellings are accepted.
        schema = {"anyOf": [schema, patterns.texts(patterns.words(*words))]}
    return Scalar(" or ".join(words), schema, convert, (str, int))


def refused(reason: str) -> Scalar:
    """A setting that exists elsewhere and is refused here, with the reason."""

    def convert(_value: Any) -> Any:
        raise ProblemError(reason)

    return Scalar("refused", {"not": {}, "description": reason}, convert, (str, int, float, bool, type(None)))


def null() -> Scalar:
    """Null."""
    return Scalar("null", {"type": "null"}, lambda value: value, (type(None),))
