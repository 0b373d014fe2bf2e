"""Files of cases: messages, and what the rules of their schemas must make of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
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
from magicbyte.kit.yaml_position import position_in
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
    (document, root), reading = _document(file), Reading()
    place = Place(str(file))
    cases = document.pop("cases", None) if isinstance(document, dict) else None
    if not cases or not isinstance(cases, list):
        raise FindingsError([Finding(place, "cases", "must be a list of at least one case")])
    read_section(SharedRows, _node(document, place, lambda name: _place(file, root, (name,))), reading, also=("cases",))
    if reading.findings:
        raise FindingsError(reading.findings)
    rows: dict[str, CaseRows] = {}
    for index, case in enumerate(cases):
        path, begin = f"case {index + 1}", _place(file, root, ("cases", index))
        if isinstance(case, dict):
            place_of = partial(_place_in_case, file, root, index)
            rows[path] = read_section(CaseRows, _node({**document, **case}, begin, place_of), reading, path)
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


def _place_in_case(file: Path, root: Any, index: int, name: str) -> Place:
    """The place of a setting of a case: in the case, or else among those that all cases share."""
    return _place(file, root, ("cases", index, name), (name,), ("cases", index))


def _place(file: Path, root: Any, *pointers: Sequence[str | int]) -> Place:
    """The line of the first of some parts that the file has; without any of them, the file."""
    found = next(filter(None, (position_in(root, pointer) for pointer in pointers)), None)
    return Place(str(file)) if found is None else Place(str(file), found[0])


def _document(file: Path) -> tuple[Any, Any]:
    import yaml  # noqa: PLC0415  a part of the extras for servers

    try:
        content = read_bounded(file).decode()
        return yaml.safe_load(content), yaml.compose(content, yaml.SafeLoader)
    except FileRefused as error:
        raise Failure(f"{file}: {error.strerror}") from None
    except OSError as error:
        raise Failure(f"{file} cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, yaml.YAMLError, RecursionError, ValueError) as error:
        problem = getattr(error, "problem", None) or "it is not YAML"
        mark = getattr(error, "problem_mark", None)
        raise Failure(f"{file}{'' if mark is None else f':{mark.line + 1}'}: {problem}") from None


def _node(settings: Mapping[Any, Any], place: Place, place_of: Callable[[str], Place]) -> MapNode:
    """Settings for the reader; null is the same as no value, but for messages and outcomes."""
    given = {str(name): value for name, value in settings.items() if value is not None or name in _MAY_BE_NULL}
    places = {name: place_of(name) for name in given}
    return MapNode(place, {name: Entry(places[name], value_node(value, places[name])) for name, value in given.items()})


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
