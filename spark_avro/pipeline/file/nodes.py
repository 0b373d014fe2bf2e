"""A YAML document as nodes with positions: YAML 1.2's scalars, duplicate keys as findings, placeholders resolved."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import yaml

from magicbyte.kit.placeholders import PlaceholderError, placeholders_in, resolve_defaults, resolve_value
from magicbyte.kit.settings.nodes import UNRESOLVED, Entry, KeptText, ListNode, MapNode, Node, ScalarNode, value_node
from magicbyte.kit.settings.place import Finding, Place
from spark_avro.pipeline.file.place import PipelineError, error_at

_INT = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}

#: The most values of a file, counted again for each alias: aliases of aliases multiply.
_MOST_NODES = 10_000
#: The deepest nesting. libyaml's composer calls itself for each level, and ends the process when the stack is full.
_MOST_DEPTH = 200
_TOO_DEEP = "this is nested too deeply, or an anchor contains itself"


class Placeholders(Enum):
    """The ways to treat placeholders."""

    #: Their values; one without a value is a finding.
    RESOLVE = "resolve"
    #: Their values; a scalar without a value is UNRESOLVED.
    CHECK = "check"
    #: Their values; a text without a value stays as it is in the file.
    LEAVE = "leave"
    #: Texts as they are in the file, for others to resolve; only defaults are filled in. A setting that takes no such
    #: text, such as a number or a duration, is UNRESOLVED.
    KEEP = "keep"


def read_documents(text: str, file: str, placeholders: Placeholders = Placeholders.RESOLVE) -> list[Node]:
    """The documents of a YAML text.

    Args:
        text: The YAML.
        file: The file's name, for places.
        placeholders: What becomes of placeholders.

    Raises:
        PipelineError: the text is not YAML, has duplicate keys or too many values, or a placeholder has no value.
    """
    reader = _Reader(file, text.splitlines(), placeholders)
    try:
        _check_depth(text, file)
        documents = list(yaml.compose_all(text, Loader=yaml.CSafeLoader))
        nodes = [reader.node(document) for document in documents if document is not None]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Place(file, mark.line + 1, mark.column + 1) if mark else Place(file)
        raise error_at(place, "", f"this is no YAML: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise error_at(Place(file), "", f"this is no YAML: {error}") from None
    except RecursionError:
        raise error_at(Place(file), "", _TOO_DEEP) from None
    if reader.findings:
        raise PipelineError(reader.findings)
    return nodes


def _check_depth(text: str, file: str) -> None:
    """Refuse deep nesting by the events of the parser, which keeps its levels on the heap.

    Raises:
        PipelineError: the text is nested too deeply.
        yaml.YAMLError: it is not YAML.
    """
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _MOST_DEPTH:
                mark = event.start_mark
                place = Place(file, mark.line + 1, mark.column + 1) if mark else Place(file)
                raise error_at(place, "", _TOO_DEEP)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def scalar_node(text: str, place: Place, placeholders: Placeholders = Placeholders.RESOLVE) -> Node:
    """The node of a YAML text from the command line; every part of it has the place of the option.

    Raises:
        PipelineError: as `read_documents`.
    """
    documents = read_documents(text, place.file, placeholders)
    return _moved(documents[0], place) if documents else value_node(None, place)


def plain_value(text: str) -> Any:
    """The value of an unquoted scalar by YAML 1.2's core schema."""
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


def _moved(node: Node, place: Place) -> Node:
    if isinstance(node, ScalarNode):
        return ScalarNode(place, node.value, node.raw, lambda _: place)
    if isinstance(node, ListNode):
        return ListNode(place, tuple(_moved(item, place) for item in node.items))
    return MapNode(place, {key: Entry(place, _moved(entry.node, place)) for key, entry in node.entries.items()})


@dataclass(slots=True)
class _Reader:
    file: str
    lines: list[str]
    placeholders: Placeholders
    findings: list[Finding] = field(default_factory=list)
    read: int = 0

    def node(self, node: yaml.Node) -> Node:
        place = self.place(node.start_mark)
        self.read += 1
        if self.read > _MOST_NODES:
            raise error_at(place, "", f"the file has more than {_MOST_NODES:,} values, with those that aliases repeat")
        if isinstance(node, yaml.ScalarNode):
            return self.scalar(node, place)
        if isinstance(node, yaml.SequenceNode):
            return ListNode(place, tuple(self.node(item) for item in node.value))
        entries: dict[str, Entry] = {}
        merged: dict[str, Entry] = {}
        for key, value in node.value:
            key_place = self.place(key.start_mark)
            if not isinstance(key, yaml.ScalarNode):
                self.findings.append(Finding(key_place, "", "a key must be a text"))
            elif key.value == "<<" and not key.style:
                merged |= self.merged(value)
            elif key.value in entries:
                first = entries[key.value].key
                self.findings.append(Finding(key_place, key.value, f"stands here twice, first in line {first.line}"))
            else:
                entries[key.value] = Entry(key_place, self.node(value))
        return MapNode(place, merged | entries)

    def merged(self, value: yaml.Node) -> dict[str, Entry]:
        nodes = value.value if isinstance(value, yaml.SequenceNode) else [value]
        entries: dict[str, Entry] = {}
        for node in reversed(nodes):
            inner = self.node(node)
            if isinstance(inner, MapNode):
                entries |= inner.entries
            else:
                self.findings.append(Finding(inner.place, "<<", "must be a mapping, or a list of mappings"))
        return entries

    def scalar(self, node: yaml.ScalarNode, place: Place) -> ScalarNode:
        raw: str = node.value
        text = raw
        try:
            if self.placeholders is Placeholders.KEEP:
                text = resolve_defaults(raw)
                if placeholders_in(text):
                    return ScalarNode(place, KeptText(text), raw, lambda _: place)
            else:
                text = resolve_value(place.file, raw)
        except PlaceholderError as error:
            if self.placeholders is Placeholders.CHECK:
                return ScalarNode(place, UNRESOLVED, raw, lambda _: place)
            if self.placeholders is not Placeholders.LEAVE:
                self.findings.append(Finding(place, "", str(error).removeprefix(f"{place.file}: ")))
        value: Any = text
        if not node.style:
            try:
                value = plain_value(text)
            except ValueError:
                self.findings.append(Finding(place, "", "this number has too many digits"))
        within = self.offsets(node, place) if text == raw else lambda _: place
        return ScalarNode(place, value, raw, within)

    def offsets(self, node: yaml.ScalarNode, place: Place) -> Callable[[int], Place]:
        """A function from an offset in a scalar's text to its place; exact for one-line scalars and blocks with `|`."""
        if node.style == "|":
            return lambda offset: self.in_block(node, offset)
        if node.start_mark.line != node.end_mark.line or node.style == ">":
            return lambda _: place
        quote = 1 if node.style else 0
        return lambda offset: Place(place.file, place.line, place.column + quote + offset)

    def in_block(self, node: yaml.ScalarNode, offset: int) -> Place:
        before = node.value[:offset]
        line = node.start_mark.line + 1 + before.count("\n")
        first = node.value.split("\n", 1)[0]
        source = self.lines[node.start_mark.line + 1] if node.start_mark.line + 1 < len(self.lines) else ""
        indent = len(source) - len(first) if source.endswith(first) else 0
        return Place(self.file, line + 1, indent + offset - (before.rfind("\n") + 1) + 1)

    def place(self, mark: Any) -> Place:
        return Place(self.file, mark.line + 1, mark.column + 1)
