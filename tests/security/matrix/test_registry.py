"""The registry: every operation with every kind of credentials in every shape of its path."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from magicbyte.http.routing.application import Application, load_contract
from magicbyte.http.routing.request import Request
from magicbyte.http.routing.rows import Row
from registry import app as registry_app
from registry.http.answers import answer
from registry.http.rows import ROWS
from registry.settings import RegistrySettings
from tests.security.matrix.credentials import ADMIN, GROUP_ID, Credentials, Identities
from tests.security.matrix.in_process import Answer, InProcess, running
from tests.security.matrix.product import Server, everything, pairwise, run, unheard
from tests.security.matrix.rules import REGISTRY, rule_of
from tests.security.matrix.shapes import COMMON, HEAD, IN_REGISTRY, Shape

V1 = "application/vnd.schemaregistry.v1+json"
WORDS = {
    "READ": "Read",
    "WRITE": "Write",
    "DELETE": "Delete",
    "DESCRIBE": "Describe",
    "DESCRIBE_CONFIGS": "DescribeConfigs",
    "ALTER_CONFIGS": "AlterConfigs",
    "ALTER": "Alter",
}
SCHEMA, NO_LEVEL, NO_MODE = b'{"schema":"no schema"}', b'{"compatibility":"NEVER"}', b'{"mode":"NEVER"}'
BODIES = {
    "registerSchema": SCHEMA,
    "lookUpSchema": SCHEMA,
    "checkAgainstVersion": SCHEMA,
    "checkAgainstAll": SCHEMA,
    "compareText": SCHEMA,
    "checkRules": SCHEMA,
    "makeOutline": SCHEMA,
    "tagVersion": b"{}",
    "putGlobalConfig": NO_LEVEL,
    "putSubjectConfig": NO_LEVEL,
    "putGlobalMode": NO_MODE,
    "putSubjectMode": NO_MODE,
    "importAll": b"\n",
    **dict.fromkeys(("addRules", "replaceRules", "removeRules"), b"[]"),
    "postRoot": b"{}",
    "repairLog": b"{}",
    "stepDown": b"",
}
INVALID = (
    "registerSchema",
    "checkAgainstAll",
    "checkRules",
    "makeOutline",
    "putGlobalConfig",
    "putSubjectConfig",
    "putGlobalMode",
    "putSubjectMode",
)
NOT_THERE = (
    *("getVersionOutline", "compareVersions", "compareText", "getGraph", "listHolders"),
    *("lookUpSchema", "deleteSubject", "listVersions", "getVersion", "deleteVersion", "tagVersion", "getVersionText"),
    *("listReferrers", "getLatestWithMetadata", "undeleteSubject", "undeleteVersion", "getById", "getTextById"),
    *("listSubjectsById", "listVersionsById", "getByGuid", "checkAgainstVersion", "getSubjectConfig"),
    *("deleteSubjectConfig", "deleteGlobalMode", "getSubjectMode", "deleteSubjectMode"),
)
STATUSES = {
    **dict.fromkeys(REGISTRY, 200),
    **dict.fromkeys(INVALID, 422),
    **dict.fromkeys(NOT_THERE, 404),
    "deleteContext": 204,
    # A storage in memory has no leader.
    "stepDown": 409,
    "importAll": 400,
    # The rules are in a file.
    **dict.fromkeys(("listRules", "addRules", "replaceRules", "removeRules"), 405),
}
ALIASES = {"open.alias": "other.gone", "other.alias": "open.gone"}
OF_ALIASES = ("an alias of what is outside", "an alias of what is inside")
IN_CONTEXT = ("in a context", "in a context without its dot", "qualified within a context")


def resource(row: Row, shape: Shape, resource_type: str) -> tuple[str, str, bool]:
    if resource_type == "REGISTRY":
        if shape.context and row.path in ("/config", "/mode"):
            return "SUBJECT", f":{shape.context}:", False
        return "REGISTRY", GROUP_ID, True
    if "{context}" in row.path:
        return "SUBJECT", ":.gone:", False
    if row.path.startswith(("/config/", "/mode/")) and shape.name in OF_ALIASES:
        # Settings are those of the alias itself.
        return "SUBJECT", shape.asked, not shape.is_inside
    return "SUBJECT", shape.asked, shape.is_inside


def refusal(operation: str, resource_type: str, name: str) -> str:
    return f"User is denied operation {WORDS[operation]} on {resource_type.capitalize()}: {name}"


SERVER = Server(
    name="registry",
    rows=ROWS,
    rules=REGISTRY,
    shapes=(*COMMON, *IN_REGISTRY, HEAD),
    bodies=BODIES,
    statuses=STATUSES,
    odd={
        # Slashes at the end of a path mean nothing, and that of the root is one.
        **dict.fromkeys(product(("root", "postRoot"), ("upper-case path", "two slashes first")), 200),
        # That is the root, in a context.
        **dict.fromkeys(product(("deleteContext",), ("trailing slash", "two slashes last")), 405),
    },
    skipped=frozenset(
        [
            *(("deleteSubjectConfig", shape) for shape in OF_ALIASES),
            *(("getSubjectConfig", shape) for shape in OF_ALIASES),
            # Settings of the context, of which there are none.
            *product(("getGlobalConfig", "deleteGlobalConfig", "getGlobalMode", "deleteGlobalMode"), IN_CONTEXT),
        ]
    ),
    resource=resource,
    refusal=refusal,
)


@pytest.fixture(scope="module")
def identities(tmp_path_factory: pytest.TempPathFactory) -> Identities:
    return Identities(tmp_path_factory.mktemp("identities"))


def an_app(identities: Identities) -> Application:
    properties = {**identities.properties, "magicbyte.storage": "memory:", "schema.registry.group.id": GROUP_ID}
    return registry_app.create_app(RegistrySettings.from_properties(properties))


@pytest.fixture(scope="module")
def registry(identities: Identities) -> Iterator[tuple[InProcess, Application]]:
    app = an_app(identities)
    with running(app) as client:
        for alias, target in ALIASES.items():
            body = json.dumps({"alias": target}).encode()
            assert client.ask("PUT", f"/config/{alias}", ADMIN, body=body).status == 200
        yield client, app


def offset(app: Application) -> object:
    return app.state.registry.view.offset


def test_operations_rows_and_rules_are_the_same() -> None:
    documented = {
        operation["operationId"]
        for item in load_contract("registry.yaml")["paths"].values()
        for method, operation in item.items()
        if method != "parameters"
    }
    assert {row.operation_id: rule_of(row) for row in ROWS} == REGISTRY
    assert documented == set(REGISTRY)


@pytest.mark.slow
def test_pairs_of_operation_credentials_and_shape(registry: Any, identities: Identities) -> None:
    client, app = registry
    cases = pairwise(SERVER, identities.all)
    counts = run(SERVER, client, cases, lambda: offset(app))
    assert counts.total() > 7000
    assert set(counts) == {200, 204, 400, 401, 403, 404, 405, 409, 422}


@pytest.mark.slow
def test_every_operation_with_every_credentials_in_every_shape(registry: Any, identities: Identities) -> None:
    client, app = registry
    cases = everything(SERVER, identities.all)
    counts = run(SERVER, client, cases, lambda: offset(app))
    assert counts.total() > 150_000


def test_an_answer_without_an_access_decision_does_not_leave(
    identities: Identities, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def forgetful(request: Request) -> Any:
        request.media_type = V1
        return answer(request, {"all": "subjects"})

    monkeypatch.setattr(registry_app, "ROWS", tuple(replace(row, handler=forgetful) for row in ROWS))
    left_to_handlers = {name for name, rule in REGISTRY.items() if rule.startswith(("filter ", "id "))}
    with running(an_app(identities)) as client:
        assert unheard(SERVER, client, identities.accepted) == left_to_handlers


#: Two subjects, the name of what each holds, and the id that it was given.
MARKS = {"open.there": "OpenMark", "other.there": "SealedMark"}


@pytest.fixture(scope="module")
def filled_registry(identities: Identities) -> Iterator[tuple[InProcess, dict[str, Any]]]:
    """A registry with both subjects, and the ids of what they hold."""
    with running(an_app(identities)) as client:
        made = {}
        for subject, mark in MARKS.items():
            schema = json.dumps({"type": "record", "name": mark, "fields": []})
            body = json.dumps({"schema": schema}).encode()
            for path in (f"/subjects/{subject}/versions", f"/subjects/:.c:{subject}/versions"):
                told = client.ask("POST", path, ADMIN, body=body)
                assert told.status == 200
                made[subject] = json.loads(told.body)
            client.ask("PUT", f"/config/{subject}", ADMIN, body=b'{"compatibility":"FULL"}')
            client.ask("PUT", f"/mode/{subject}", ADMIN, body=b'{"mode":"READWRITE"}')
        yield client, made


def paths_of(row: Row, subject: str, made: dict[str, Any]) -> list[str]:
    """The row's path about a subject: by its name, version, id and guid, with what queries add."""
    values = {"subject": subject, "version": "1", "id": made["id"], "guid": made["guid"], "context": ".c"}
    path = row.path
    for name, value in values.items():
        path = path.replace(f"{{{name}}}", str(value))
    queries = (
        "",
        "?subjectPrefix=:*:",
        f"?subject={subject}",
        "?deleted=true",
        "?format=resolved",
        "?defaultToGlobal=true",
        "?q=mark&deleted=true",
    )
    return [around + path + query for around in ("", "/contexts/.c", "/contexts/:.:") for query in queries]


@pytest.mark.slow
def test_no_answer_reveals_unreadable_subjects(filled_registry: Any, identities: Identities) -> None:
    client, made = filled_registry
    asked, leaks = 0, []
    others = ("topic-", "group-", "cluster-", "transactional-id-")
    people = [one for one in identities.accepted if not one.name.startswith(others)]
    for row, credentials in product(ROWS, [*identities.refused, *people]):
        held = credentials.held
        if row.method != "GET":
            continue
        for subject, mark in MARKS.items():
            is_inside = subject == "open.there"
            if held is not None and any(held.may("READ", "SUBJECT", is_inside=one) for one in (is_inside, False)):
                continue
            for path in paths_of(row, subject, made[subject])[: None if held is not None else 1]:
                told = client.ask(
                    "GET", path, credentials.headers, certificate=credentials.certificate, expires=credentials.expires
                )
                asked += 1
                if mark.encode() in told.body or told.status >= 500:
                    leaks.append(f"{credentials.name}: {path}: {told.body[:200]!r}")
    print(f"registry: {asked} requests for what may not be read")
    assert not leaks, leaks[:20]
    assert asked > 15_000


def of_path(answer: Answer) -> tuple[int, dict[str, str], bytes]:
    return (
        answer.status,
        {name: answer.headers[name] for name in sorted(answer.headers) if name != "x-request-id"},
        answer.body,
    )


def test_a_forbidden_subject_looks_like_a_missing_subject(filled_registry: Any, identities: Identities) -> None:
    """The same bytes but for what the request itself has named."""
    client, made = filled_registry
    unknown = {"id": 987654, "guid": "0" * 8 + "-0000-0000-0000-" + "0" * 12}
    compared = 0
    for row, credentials in product(ROWS, identities.accepted):
        if credentials.held is None or not any(name in row.path for name in ("{subject}", "{id}", "{guid}")):
            continue
        there, gone = "other.there", "other.xxxxx"
        told = ask_for(client, row, credentials, there, made[there])
        if told.status < 400 or credentials.held.may("READ", "SUBJECT", is_inside=False):
            continue
        missing = ask_for(client, row, credentials, gone, unknown)
        status, headers, body = of_path(missing)
        for name in ("id", "guid"):
            body = body.replace(str(unknown[name]).encode(), str(made[there][name]).encode())
        headers["content-length"] = str(len(body))
        assert of_path(told) == (status, headers, body.replace(gone.encode(), there.encode())), row.operation_id
        compared += 1
    print(f"registry: {compared} refusals compared with what is missing")
    assert compared > 700


def ask_for(client: InProcess, row: Row, credentials: Credentials, subject: str, made: dict[str, Any]) -> Answer:
    path = paths_of(row, subject, made)[0]
    body = BODIES.get(row.operation_id, b"")
    return client.ask(row.method, path, credentials.headers, body=body, certificate=credentials.certificate)
