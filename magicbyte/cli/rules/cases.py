"""Files of cases: messages, and what the rules of their schemas must make of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from magicbyte.cli.records.rule_plans import registered
from magicbyte.cli.rules.ruled_schema import from_files, rules_of_file
from magicbyte.kit.bounded_file import FileRefused, read_bounded
from magicbyte.kit.failure import Failure
from serdes.client.clients import RegistryClient
from serdes.rules.context import Ruled

_MODES = ("WRITE", "READ", "UPGRADE", "DOWNGRADE")
_PLACES = ("CLIENT", "GATEWAY")
_SHARED = frozenset({"subject", "version", "schema", "rules", "mode", "environment", "from"})
_OF_CASE = _SHARED | {"name", "message", "expect"}
_PASSES = "pass"


@dataclass(frozen=True, slots=True)
class Expected:
    """What the rules must make of a message: the name and the path of a failure, or a result, or no failure."""

    fails: str | None = None
    at: str | None = None
    result: Any = None
    has_result: bool = False


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

    def of(self, case: Mapping[str, Any], version: object) -> Ruled:
        """The schema of a case, in a version of its subject."""
        key = (case.get("subject"), version, case.get("schema"), case.get("rules"))
        if key not in self._found:
            self._found[key] = self._read(case, version)
        return self._found[key]

    def _read(self, case: Mapping[str, Any], version: object) -> Ruled:
        rules = None if case.get("rules") is None else self._folder / str(case["rules"])
        if case.get("schema") is not None:
            return from_files(self._folder / str(case["schema"]), rules, case.get("subject"))
        if case.get("subject") is None:
            raise Failure("a case needs a subject of the registry, or the file of a schema")
        ruled = registered(self._client, str(case["subject"]), str(version))
        if rules is None:
            return ruled
        rule_set, metadata = rules_of_file(rules)
        return Ruled(ruled.name, ruled.schema, rule_set, metadata, ruled.dependencies, ruled.subject)


def read_cases(file: Path, client: RegistryClient) -> Iterator[Case]:
    """The cases of a file.

    Raises:
        Failure: The file cannot be read, or a case is not complete.
    """
    import yaml  # noqa: PLC0415  a part of the extras for servers

    try:
        document = yaml.safe_load(read_bounded(file).decode())
    except FileRefused as error:
        raise Failure(f"{file}: {error.strerror}") from None
    except OSError as error:
        raise Failure(f"{file} cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, yaml.YAMLError, RecursionError, ValueError) as error:
        problem = getattr(error, "problem", None) or "it is not YAML"
        mark = getattr(error, "problem_mark", None)
        raise Failure(f"{file}{'' if mark is None else f':{mark.line + 1}'}: {problem}") from None
    if not isinstance(document, dict) or not isinstance(document.get("cases"), list) or not document["cases"]:
        raise Failure(f"{file}: expected an object with a list of `cases`")
    shared = {name: value for name, value in document.items() if name != "cases"}
    _refuse_unknown(shared, _SHARED, str(file))
    schemas = Schemas(file.parent, client)
    for number, case in enumerate(document["cases"], 1):
        place = f"{file}: case {number}"
        if not isinstance(case, dict) or "message" not in case:
            raise Failure(f"{place}: expected an object with a `message`")
        _refuse_unknown(case, _OF_CASE, place)
        try:
            yield _case({**shared, **case}, number, schemas)
        except Failure as failure:
            raise Failure(f"{place}: {failure}") from None


def _refuse_unknown(node: Mapping[Any, Any], known: frozenset[str], place: str) -> None:
    unknown = sorted(map(str, node.keys() - known))
    if unknown:
        raise Failure(f"{place}: {unknown[0]!r} is unknown; there are {', '.join(sorted(known))}")


def _case(case: Mapping[str, Any], number: int, schemas: Schemas) -> Case:
    mode = _one_of("mode", case.get("mode", "WRITE"), _MODES)
    for name in ("subject", "schema", "rules", "version", "from"):
        value = case.get(name)
        if not isinstance(value, str | int | None):
            raise Failure(f"{name} must be a text, not {value!r:.80}")
    source = None
    if mode in ("UPGRADE", "DOWNGRADE"):
        if case.get("from") is None or case.get("subject") is None:
            raise Failure(f"{mode} needs a subject, and `from`: the version of the message")
        source = schemas.of(case, case["from"])
    return Case(
        str(case.get("name", number)),
        schemas.of(case, case.get("version", "latest")),
        mode,
        _one_of("environment", case.get("environment", "CLIENT"), _PLACES),
        case["message"],
        source,
        _expected(case.get("expect", _PASSES)),
    )


def _one_of(name: str, value: Any, known: tuple[str, ...]) -> str:
    if value not in known:
        raise Failure(f"{name} must be {', '.join(known)}, not {value!r}")
    return str(value)


def _expected(node: Any) -> Expected:
    if node == _PASSES:
        return Expected()
    if isinstance(node, dict) and node.keys() == {"result"}:
        return Expected(result=node["result"], has_result=True)
    if isinstance(node, dict) and {"fails"} <= node.keys() <= {"fails", "at"}:
        return Expected(str(node["fails"]), None if node.get("at") is None else str(node["at"]))
    raise Failure("expect must be `pass`, {fails: RULE, at: PATH} or {result: MESSAGE}")
