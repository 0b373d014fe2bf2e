"""The contract in openapi/ and the routes that are served are the same."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from fastapi.dependencies.models import Dependant
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from magicbyte.http import errors as http_errors
from magicbyte.http.routing.application import load_contract
from magicbyte.http.routing.solved import SolvedRoute
from magicbyte.kit.errors import ErrorKind
from magicbyte.testing.servers import running_registry
from registry import errors
from registry.http.contract import text as contract_text
from registry.http.rows import ROWS
from registry.settings import RegistrySettings
from tools.api_tests import api_tests

ROOT = Path(__file__).parents[3]


def is_locked(*libraries: str) -> bool:
    """True if the libraries have the versions of the lock file."""
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    return all(f"\n{library}=={version(library)} " in lock for library in libraries)


@pytest.mark.skipif(not is_locked("fastapi", "pydantic"), reason="other versions write the same in other words")
def test_the_contract_is_generated_from_the_rows() -> None:
    """After a change of a row, `make openapi` writes the file anew."""
    assert (ROOT / "openapi" / "registry.yaml").read_text(encoding="utf-8") == contract_text()


def test_few_handlers_take_the_bare_request() -> None:
    assert {row.operation_id for row in ROWS if row.declared is not None} == {
        "getById",
        "getVersion",
        "listVersions",
        "lookUpSchema",
        "registerSchema",
    }


_ASYNC = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def test_no_dependency_waits_for_a_thread() -> None:
    """FastAPI calls what is no coroutine function in one of 40 threads."""

    def calls(dependant: Dependant) -> Iterator[Any]:
        for dependency in dependant.dependencies:
            yield dependency.call
            yield from calls(dependency)

    called = {call for row in ROWS for call in calls(SolvedRoute(row).dependant)}
    functions = [call if inspect.isfunction(call) else call.__call__ for call in called]
    waiting = [
        call for call in functions if not inspect.iscoroutinefunction(call) and not inspect.isasyncgenfunction(call)
    ]
    assert len(functions) > 5
    assert waiting == []


def test_every_route_is_in_the_contract_and_the_contract_has_no_other() -> None:
    documented = {(method, path) for path, item in load_contract("registry.yaml")["paths"].items() for method in item}
    assert {(row.method.lower(), row.path) for row in ROWS} == documented


def test_every_error_is_in_the_contract_and_the_contract_has_no_other() -> None:
    table = [
        value for module in (errors, http_errors) for value in vars(module).values() if isinstance(value, ErrorKind)
    ]
    listed = load_contract("registry.yaml")["components"]["schemas"]["Error"]["properties"]["error_code"]["enum"]
    assert sorted({kind.code for kind in table}) == sorted(listed)


def test_the_contract_is_served(api: Any) -> None:
    assert api("GET", "/openapi.json").json() == load_contract("registry.yaml")


@pytest.fixture(scope="module")
def contract() -> Iterator[Any]:
    with running_registry("memory:") as server:
        yield schemathesis.openapi.from_url(f"{server.url}/openapi.json")


CHECKS = (not_a_server_error, status_code_conformance, response_schema_conformance, content_type_conformance)


@pytest.mark.slow
def test_no_request_gets_an_answer_outside_the_contract(contract: Any) -> None:
    # An answer of /events has no end.
    operations = [result.ok() for result in contract.exclude(path="/events").get_all_operations()]
    assert len(operations) > 40
    for operation in operations:

        @settings(max_examples=10, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(case=operation.as_strategy())
        def answers_within_the_contract(case: Any) -> None:
            case.call_and_validate(checks=CHECKS)

        answers_within_the_contract()


DOCS = Path(__file__).parents[3] / "docs"
DOCUMENT = (DOCS / "registry-api.md").read_text(encoding="utf-8")
#: The properties, and what the registry shares with other servers.
SHARED = "".join((DOCS / page).read_text(encoding="utf-8") for page in ("config-registry.md", "security.md", "page.md"))


def test_the_document_names_every_route() -> None:
    missing = {
        path
        for path in load_contract("registry.yaml")["paths"]
        if not re.search(rf"[ `]{re.escape(path)}`", DOCUMENT.replace("?", "`?"))
    }
    assert missing == set()


def test_the_document_names_every_parameter_error_and_property() -> None:
    components = load_contract("registry.yaml")["components"]
    named = set(re.findall(r"`([^`=?/ ]+)", DOCUMENT + SHARED))
    assert {parameter["name"] for parameter in components["parameters"].values()} - named == set()
    codes = {
        int(code) for row in re.findall(r"^\| (\d.*?\|)", DOCUMENT, re.MULTILINE) for code in re.findall(r"\d+", row)
    }
    assert set(components["schemas"]["Error"]["properties"]["error_code"]["enum"]) - codes == set()
    assert {field.alias for field in RegistrySettings.model_fields.values()} - {None} - named == set()


#: The sections of the document whose every line has tests.
TESTED = ("Routes", "Beyond the reference", "Parameters", "Errors", "Limits")


def rows_of(heading: str) -> list[str]:
    """The first cells of the tables of a section; of a numbered line, the second."""
    section = DOCUMENT.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in section.splitlines() if line.startswith("|")]
    is_numbered = rows[0][1].strip() == "Route"
    return [row[1 if is_numbered else 0].strip() for row in rows[2:]]


def test_the_table_of_tests_has_each_line_of_the_document() -> None:
    for heading in TESTED:
        assert list(api_tests()[heading]) == rows_of(heading) != []
    headings = set(re.findall(r"^## (.+)$", DOCUMENT, re.MULTILINE))
    assert set(api_tests()) - headings == set()
    assert "](../tests/" not in DOCUMENT


def test_the_table_of_tests_names_existing_tests() -> None:
    named = {test for lines in api_tests().values() for tests in lines.values() for test in tests}
    assert len(named) > 150
    for test in named:
        path, _, function = test.partition("::")
        place = DOCS.parent / path
        assert place.exists(), test
        if function:
            text = place.read_text(encoding="utf-8")
            assert re.search(rf"^(async )?def {function}\(", text, re.MULTILINE), test
    assert all(tests for lines in api_tests().values() for tests in lines.values())
