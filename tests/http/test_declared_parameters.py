"""FastAPI solves what an endpoint declares, within the steps that every request takes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any

import pytest
from fastapi import Depends, Header, Path, Query
from pydantic import BeforeValidator, Field
from starlette.responses import Response
from starlette.testclient import TestClient
from typing_extensions import TypedDict

from magicbyte.http.errors import NOT_FOUND
from magicbyte.http.routing.access import OPEN
from magicbyte.http.routing.application import Api, Application
from magicbyte.http.routing.description import Answer, Description, MediaTypes, to_yaml
from magicbyte.http.routing.request import Request
from magicbyte.http.routing.response import Json
from magicbyte.http.routing.rows import BodyLimit, Row
from magicbyte.http.routing.solved import RowRoute

opened: list[str] = []


def negotiate(request: Request) -> None:
    request.media_type = "application/json"


def number(raw: Any) -> int:
    if not str(raw).isdigit():
        raise NOT_FOUND()
    return int(raw)


async def opened_file(request: Request) -> AsyncIterator[str]:
    opened.append(f"open {request.method}")
    yield "file"
    opened.append("close")


class Thing(TypedDict):
    """A thing."""

    name: Annotated[str, Field(description="Its name.")]


async def solved(
    request: Request,
    *,
    thing: Annotated[str, Path(description="The thing.")],
    file: Annotated[str, Depends(opened_file)],
    most: Annotated[int, BeforeValidator(number), Query(alias="max", description="Maximum number.")] = 3,
    tags: Annotated[list[str], Query(alias="tag", description="Tags.")] = [],  # noqa: B006  FastAPI copies it
    match: Annotated[str | None, Header(alias="If-Match", description="An ETag.")] = None,
) -> Json[Thing]:
    """A thing, solved.

    Its second paragraph
    is the description.
    """
    opened.append("answer")
    return Json([thing, file, most, tags, match], 200, request.media_type)  # type: ignore[arg-type]


async def bare(_request: Request) -> Response:
    return Response("bare")


SOLVED = Row("GET", "/things/{thing}", "solved", OPEN, solved, negotiate)
BARE = Row("GET", "/bare/{thing}", "bare", OPEN, bare, negotiate, declared=solved)


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    api = Api(
        name="test",
        contract="registry.yaml",
        rows=[SOLVED, BARE],
        error_response=lambda _, error: Response(error.message, error.status),
        body_limits={BodyLimit.USUAL: 100},
        unrouted_media_types=negotiate,
    )
    with TestClient(Application(api)) as client:
        yield client


@pytest.mark.parametrize(
    ("url", "headers", "parameters"),
    [
        ("/things/a", {}, ["a", "file", 3, [], None]),
        ("/things/a%2Fb?max=07&tag=x&tag=y", {"If-Match": "1"}, ["a%2Fb", "file", 7, ["x", "y"], "1"]),
        # The last one holds, as in Starlette.
        ("/things/a?max=1&max=2&most=9", {}, ["a", "file", 2, [], None]),
    ],
)
def test_an_endpoint_gets_the_parameters_that_it_declares(
    client: TestClient, url: str, headers: dict[str, str], parameters: list[Any]
) -> None:
    assert client.get(url, headers=headers).json() == parameters


def test_dependencies_close_before_the_answer_is_sent(client: TestClient) -> None:
    opened.clear()
    assert client.get("/things/a").status_code == 200
    assert opened == ["open GET", "answer", "close"]


def test_an_error_of_a_parameter_is_the_error_of_the_request(client: TestClient) -> None:
    answer = client.get("/things/a?max=many")
    assert (answer.status_code, answer.text) == (404, "HTTP 404 Not Found")


def test_a_handler_of_the_bare_request_is_called_directly(client: TestClient) -> None:
    opened.clear()
    assert client.get("/bare/a").text == "bare"
    assert opened == []
    assert RowRoute(BARE).handler is bare
    assert RowRoute(SOLVED).handler is not solved


DESCRIPTION = Description(
    info={"title": "Things", "version": "1"},
    tags=[{"name": "things", "description": "Things"}],
    error=Thing,
    error_media_types=["application/json"],
    media_types={negotiate: MediaTypes(produced=["application/json", "application/x"])},
    answers={"bare": {404: Answer("None.", headers={"Link": "More."}, by_media_type={"text/plain": str})}},
    tag_of=lambda _row: "things",
)


def test_the_document_has_the_parameters_that_an_endpoint_declares() -> None:
    document = DESCRIPTION.document([SOLVED])
    assert document["paths"]["/things/{thing}"]["get"] == {
        "operationId": "solved",
        "tags": ["things"],
        "summary": "A thing, solved.",
        "description": "Its second paragraph is the description.",
        "parameters": [
            {"$ref": "#/components/parameters/thing"},
            {"$ref": "#/components/parameters/max"},
            {"$ref": "#/components/parameters/tag"},
            {"$ref": "#/components/parameters/If-Match"},
        ],
        "responses": {
            "200": {
                "description": "A thing.",
                "content": {
                    "application/json": {"schema": {"$ref": "#/components/schemas/Thing"}},
                    "application/x": {"schema": {"$ref": "#/components/schemas/Thing"}},
                },
            },
            "default": {"$ref": "#/components/responses/Error"},
        },
    }
    components = document["components"]
    assert components["parameters"]["thing"] == {
        "name": "thing",
        "in": "path",
        "required": True,
        "description": "The thing.",
        "schema": {"type": "string"},
    }
    assert components["parameters"]["max"] == {
        "name": "max",
        "in": "query",
        "description": "Maximum number.",
        "schema": {"type": "integer", "default": 3},
    }
    assert components["schemas"]["Thing"] == {
        "description": "A thing.",
        "properties": {"name": {"description": "Its name.", "type": "string"}},
        "required": ["name"],
        "type": "object",
    }


def test_a_document_has_the_declarations_of_a_bare_handler() -> None:
    [operation] = DESCRIPTION.document([BARE])["paths"]["/bare/{thing}"].values()
    assert operation["summary"] == "A thing, solved."
    assert len(operation["parameters"]) == 4
    assert operation["responses"]["404"] == {
        "description": "None.",
        "headers": {"Link": {"description": "More.", "schema": {"type": "string"}}},
        "content": {"text/plain": {"schema": {"type": "string"}}},
    }


async def other(_request: Request, *, thing: Annotated[str, Path(description="Another.")]) -> Response:
    """Another thing."""
    return Response(thing)


def test_parameters_of_one_name_that_differ_are_two_components() -> None:
    rows = [SOLVED, Row("GET", "/others/{thing}", "other", OPEN, other, negotiate)]
    document = DESCRIPTION.document(rows)
    assert document["components"]["parameters"]["thing-in-path"]["description"] == "Another."
    [operation] = document["paths"]["/others/{thing}"].values()
    assert operation["parameters"] == [{"$ref": "#/components/parameters/thing-in-path"}]


def test_the_text_of_a_document_repeats_equal_parts() -> None:
    part = {"a": 1}
    assert to_yaml({"z": part, "b": part}) == "z:\n  a: 1\nb:\n  a: 1\n"
