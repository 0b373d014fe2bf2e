"""The rules beside a schema: `name.rules.json` or `name.rules.yaml`, or the file that the configuration names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compat.contracts.model import Metadata, RuleSet
from compat.json import json_text
from compat.schema import Pointer, Position
from magicbyte.check.config.config import RULE_ENDINGS, Config, stem_of
from magicbyte.check.findings import START, Finding
from magicbyte.check.project.files import SchemaFile
from magicbyte.kit.bounded_file import FileRefused, read_bounded
from magicbyte.kit.failure import Failure
from magicbyte.kit.yaml_position import position_in

_MOST_BYTES = 1_000_000
_LISTS = frozenset({"migrationRules", "domainRules", "encodingRules", "enableAt"})
_STEP = re.compile(r"\.?([A-Za-z]+)|\[(\d+)\]|\['(.*?)'\]")


class _Unreadable(ValueError):
    """A rule file that cannot be read; the text says why."""

    def __init__(self, text: str, position: Position = START) -> None:
        super().__init__(text)
        self.position = position


@dataclass(frozen=True, slots=True)
class RuleFile:
    """A rule set and metadata from a file.

    Attributes:
        path: The path relative to the project's folder.
        rule_set: The rules.
        metadata: The metadata; None if there is none.
        is_bare: Whether the file is the rule set itself, without metadata.
        locate: Returns the position of a value.
    """

    path: str
    rule_set: RuleSet
    metadata: Metadata | None
    is_bare: bool
    locate: Callable[[Pointer], Position | None]

    def position(self, place: str) -> Position:
        """The position of a place such as `ruleSet.domainRules[2].expr`, or of the nearest value around it."""
        steps: list[str | int] = [
            int(index) if index else name or key or "" for name, index, key in _STEP.findall(place)
        ]
        if self.is_bare and steps[:1] == ["ruleSet"]:
            steps = steps[1:]
        for length in range(len(steps), 0, -1):
            position = self.locate(tuple(steps[:length]))
            if position is not None:
                return position
        return START


def rule_file_of(config: Config, file: SchemaFile) -> RuleFile | Finding | None:
    """The rules of a schema file, or the finding that says why they cannot be read; None if there are none.

    Raises:
        Failure: the configuration names a file that does not exist, or the file cannot be opened.
    """
    folder = file.path.rpartition("/")[0]
    beside = f"{folder}/{stem_of(file.path)}" if folder else stem_of(file.path)
    named = file.entry.rules
    candidates = [named] if named is not None else [beside + ending for ending in RULE_ENDINGS]
    path = next((path for path in candidates if (config.root / path).is_file()), None)
    if path is None:
        if named is not None:
            raise file.entry.error("rules", f"there is no file {named!r} in {config.root}")
        return None
    try:
        content = read_bounded(config.root / path, most=_MOST_BYTES, inside=config.root)
    except FileRefused as error:
        raise Failure(f"{path}:1:1: {error.strerror}") from None
    except OSError as error:
        raise Failure(f"{path}:1:1: cannot be read: {error.strerror}") from None
    try:
        return _read(path, content.decode())
    except UnicodeDecodeError:
        return _problem(path, file, _Unreadable("it is not UTF-8 text"))
    except _Unreadable as error:
        return _problem(path, file, error)


def read_rule_file(path: Path) -> RuleFile:
    """The rules of a file of any project.

    Raises:
        Failure: the file cannot be read, or is no file of rules.
    """
    try:
        return _read(str(path), read_bounded(path, most=_MOST_BYTES).decode())
    except FileRefused as error:
        raise Failure(f"{path}: {error.strerror}") from None
    except OSError as error:
        raise Failure(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise Failure(f"{path}: it is not UTF-8 text") from None
    except _Unreadable as error:
        position = error.position
        raise Failure(f"{path}:{position.line}:{position.column}: the rules cannot be read: {error}") from None


def _problem(path: str, file: SchemaFile, error: _Unreadable) -> Finding:
    message = f"The rules cannot be read: {error}."
    remedy = "Give the file the JSON of a request: an object with ruleSet and metadata, or a rule set."
    return Finding("RULES_RULE_SET", path, error.position, message, remedy, subject=file.subject)


def _read(path: str, text: str) -> RuleFile:
    value, locate = _json(text) if path.endswith(".json") else _yaml(text)
    if not isinstance(value, dict):
        raise _Unreadable("it is no object")
    is_bare = bool(value.keys() & _LISTS)
    unknown = sorted(map(str, value.keys() - (_LISTS if is_bare else {"ruleSet", "metadata"})))
    if unknown:
        raise _Unreadable(f"{unknown[0]!r} is unknown", locate((unknown[0],)) or START)
    try:
        rule_set = RuleSet.from_json(value if is_bare else value.get("ruleSet"))
        metadata = None if is_bare else Metadata.from_json(value.get("metadata"))
    except TypeError as error:
        raise _Unreadable(str(error)) from None
    return RuleFile(path, rule_set or RuleSet(), metadata, is_bare, locate)


def _json(text: str) -> tuple[Any, Callable[[Pointer], Position | None]]:
    try:
        return json_text.loads(text), lambda pointer: json_text.locate(text, pointer)
    except json_text.InvalidJson as error:
        raise _Unreadable(f"it is not JSON: {error}", error.position or START) from None


def _yaml(text: str) -> tuple[Any, Callable[[Pointer], Position | None]]:
    try:
        import yaml  # noqa: PLC0415  a part of the extras for servers, and few projects have rules in YAML
    except ImportError:
        raise Failure("rules in YAML need PyYAML: pip install pyyaml, or write them in JSON") from None
    try:
        node = yaml.compose(text, yaml.SafeLoader)
        value = yaml.load(text, yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        position = START if mark is None else Position(mark.line + 1, mark.column + 1)
        raise _Unreadable(f"it is not YAML: {error.problem}", position) from None
    except (yaml.YAMLError, ValueError) as error:
        raise _Unreadable(f"it is not YAML: {error}") from None
    except RecursionError:
        raise _Unreadable("it is nested too deeply") from None
    return value, lambda pointer: _yaml_position(node, pointer)


def _yaml_position(node: Any, pointer: Pointer) -> Position | None:
    found = position_in(node, pointer)
    return None if found is None else Position(*found)


def rule_files_of_schema(schema: Path) -> Iterator[Path]:
    """The files of rules beside a schema's file."""
    stem = schema.name.removesuffix(".schema.json").removesuffix(schema.suffix)
    for ending in RULE_ENDINGS:
        beside = schema.with_name(f"{stem}{ending}")
        if beside.is_file():
            yield beside
