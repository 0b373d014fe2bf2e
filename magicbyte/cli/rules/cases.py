"""Files of cases: messages, and what the rules of their schemas must make of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from magicbyte.cli.records.rule_plans import registered
from magicbyte.cli.rules.ruled_schema import from_files, rules_of_file
from magicbyte.kit.bounded_file import FileRefused, read_bounded
from magicbyte.kit.failure import Failure
from magicbyte.kit.settings.kinds import ProblemError, Reading, Scalar, choice, text
from magicbyte.kit.settings.nodes import Entry, MapNode, value_node
from magicbyte.kit.settings.place import Finding, FindingsError, Place
from magicbyte.kit.settings.section import Section, read_section, setting
from serdes.client.clients import RegistryClient
from serdes.rules.context import Ruled

_UPGRADE, _DOWNGRADE = "UPGRADE", "DOWNGRADE"
_PASSES = "pass"
_MAY_BE_NULL = frozenset(("message", "expect"))
_ANY = Scalar("a value", {}, shapes=(object, bool))


@dataclass(frozen=True, slots=True)
class Expected:
    """The expected outcome of the rules for a message: a failure's name and path, or a result, or no failure."""

    fails: str | None = None
    at: str | None = None
    result: Any = None
    has_result: bool = False


def _expected(value: Any) -> Expected:
    if value == _PASSES:
        return Expected()
    if isinstance(value, dict) and value.keys() == {"result"}:
        return Expected(result=value["result"], has_result=True)
    if isinstance(value, dict) and {"fails"} <= value.keys() <= {"fails", "at"}:
        return Expected(str(value["fails"]), None if value.get("at") is None else str(value["at"]))
    raise ProblemError("must be `pass`, {fails: RULE, at: PATH} or {result: MESSAGE}")


class SharedRows(Section):
    """The settings of a case that a file may also have for all of its cases."""

    subject: str | None = setting(text(), "The subject in the registry.", default=None)
    version: str = setting(text(), "The version of the subject.", default="latest")
    schema: str | None = setting(text(), "Instead: the file of a schema.", default=None)
    rules: str | None = setting(text(), "The file of the rules, instead of the schema's own.", default=None)
    mode: str = setting(
        choice("WRITE", "READ", _UPGRADE, _DOWNGRADE), "What is done with the message.", default="WRITE"
    )
    environment: str = setting(choice("CLIENT", "GATEWAY"), "The program that runs the rules.", default="CLIENT")
    source: str | None = setting(text(), "For a migration: the version of the message.", "from", default=None)


class CaseRows(SharedRows):
    """A case."""

    name: str | None = setting(Scalar("a text", {}, str, shapes=(object, bool)), "The name.", default=None)
    message: Any = setting(_ANY, "The message as JSON.")
    expect: Expected = setting(
        Scalar("an outcome", {}, _expected, shapes=(object, bool)), "The outcome.", default=Expected()
    )

    def problems(self) -> Iterable[tuple[str, str]]:
        """Settings that need another."""
        if self.mode in (_UPGRADE, _DOWNGRADE):
            for name, value in (("subject", self.subject), ("from", self.source)):
                if value is None:
                    yield name, f"is needed with mode {self.mode}: the message is of the version `from` of the subject"
        elif self.subject is None and self.schema is None:
            yield "", "a case needs a subject of the registry, or the file of a schema"


@dataclass(frozen=True, slots=True)
class Case:
    """A message and the rules for it.

    Attributes:
        name: The name of the case.
        ruled: The schema with its rules.
        mode: WRITE, READ, UPGRADE or DOWNGRADE.
        environment: CLIENT or GATEWAY.
        message: The message as JSON, with plain unions.
        source: For a migration, the schema of the message.
        expected: The outcome.
    """

    name: str
    ruled: Ruled
    mode: str
    environment: str
    message: Any
    source: Ruled | None
    expected: Expected


class Schemas:
    """Reads the schemas of cases; the registry's client is made for the first case that names a subject."""

    def __init__(self, folder: Path, client: RegistryClient) -> None:
        self._folder = folder
        self._client = client
        self._found: dict[object, Ruled] = {}

    def of(self, case: SharedRows, version: str) -> Ruled:
        """The schema of a case, in a version of its subject."""
        key = (case.subject, version, case.schema, case.rules)
        if key not in self._found:
            self._found[key] = self._read(case, version)
        return self._found[key]

    def _read(self, case: SharedRows, version: str) -> Ruled:
        rules = None if case.rules is None else self._folder / case.rules
        if case.schema is not None:
            return from_files(self._folder / case.schema, rules, case.subject)
        ruled = registered(self._client, str(case.subject), version)
        if rules is None:
            return ruled
        rule_set, metadata = rules_of_file(rules)
        return Ruled(ruled.name, ruled.schema, rule_set, metadata, ruled.dependencies, ruled.subject)


def read_cases(file: Path, client: RegistryClient) -> Iterator[Case]:
    """The cases of a file.

    Raises:
        FindingsError: Settings of the file or of a case are wrong.
        Failure: The file or a schema cannot be read.
    """
    (document, lines), reading = _document(file), Reading()
    place = Place(str(file))
    cases = document.pop("cases", None) if isinstance(document, dict) else None
    if not cases or not isinstance(cases, list):
        raise FindingsError([Finding(place, "cases", "must be a list of at least one case")])
    read_section(SharedRows, _node(document, place, lines.shared), reading, also=("cases",))
    if reading.findings:
        raise FindingsError(reading.findings)
    rows: dict[str, CaseRows] = {}
    # A list that is merged into the document (`<<`) has no lines of its own.
    numbered = enumerate(zip_longest(cases, lines.cases[: len(cases)], fillvalue=_NO_LINES), 1)
    for number, (case, own) in numbered:
        path = f"case {number}"
        begin = Place(str(file), own.begin)
        if isinstance(case, dict):
            named = {**lines.shared.settings, **own.settings}
            node = _node({**document, **case}, begin, _Lines(own.begin, named))
            rows[path] = read_section(CaseRows, node, reading, path)
        else:
            reading.report(begin, path, "must be a mapping with a message")
    if reading.findings:
        raise FindingsError(reading.findings)
    schemas = Schemas(file.parent, client)
    for number, (path, row) in enumerate(rows.items(), 1):
        try:
            yield _case(row, number, schemas)
        except Failure as failure:
            raise Failure(f"{file}: {path}: {failure}") from None


@dataclass(frozen=True, slots=True)
class _Lines:
    """The lines of a mapping: where it begins, and those of its settings by name."""

    begin: int
    settings: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _FileLines:
    """The lines of a file: of the settings that its cases share, and of each case."""

    shared: _Lines
    cases: Sequence[_Lines]


_NO_LINES = _Lines(0, {})


def _lines(node: Any) -> _Lines:
    pairs = node.value if node.id == "mapping" else ()
    return _Lines(node.start_mark.line + 1, {str(name.value): name.start_mark.line + 1 for name, _ in pairs})


def _lines_of_file(root: Any) -> _FileLines:
    pairs = root.value if root is not None and root.id == "mapping" else ()
    lists = [value for name, value in pairs if name.value == "cases" and value.id == "sequence"]
    shared = _NO_LINES if root is None else _lines(root)
    return _FileLines(shared, [_lines(case) for case in (lists[-1].value if lists else ())])


def _document(file: Path) -> tuple[Any, _FileLines]:
    import yaml  # noqa: PLC0415  a part of the extras for servers

    try:
        content = read_bounded(file).decode()
        return yaml.safe_load(content), _lines_of_file(yaml.compose(content, yaml.SafeLoader))
    except FileRefused as error:
        raise Failure(f"{file}: {error.strerror}") from None
    except OSError as error:
        raise Failure(f"{file} cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, yaml.YAMLError, RecursionError, ValueError) as error:
        problem = getattr(error, "problem", None) or "it is not YAML"
        mark = getattr(error, "problem_mark", None)
        raise Failure(f"{file}{'' if mark is None else f':{mark.line + 1}'}: {problem}") from None


def _node(settings: Mapping[Any, Any], place: Place, lines: _Lines) -> MapNode:
    """Settings for the reader; null is the same as no value, but for messages and outcomes."""
    entries: dict[str, Entry] = {}
    for name, value in settings.items():
        if value is not None or name in _MAY_BE_NULL:
            own = Place(place.file, lines.settings.get(str(name), place.line))
            entries[str(name)] = Entry(own, value_node(value, own))
    return MapNode(place, entries)


def _case(row: CaseRows, number: int, schemas: Schemas) -> Case:
    is_migration = row.mode in (_UPGRADE, _DOWNGRADE)
    return Case(
        str(number) if row.name is None else row.name,
        schemas.of(row, row.version),
        row.mode,
        row.environment,
        row.message,
        schemas.of(row, str(row.source)) if is_migration else None,
        row.expect,
    )
