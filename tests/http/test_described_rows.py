"""Bodies and answers without a type in a document, and the calls around a handler."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import pytest
from fastapi import Depends, Path
from msgspec import Meta, Struct
from starlette.responses import Response
from starlette.testclient import TestClient

from magicbyte.http.routing.access import OPEN
from magicbyte.http.routing.application import Api, Application
from magicbyte.http.routing.described_body import DescribedBody
from magicbyte.http.routing.description import Answer, Description, MediaTypes
from magicbyte.http.routing.request import Request
from magicbyte.http.routing.response import NoContent
from magicbyte.http.routing.rows import Around, BodyLimit, Row
from magicbyte.http.routing.solved import RowRoute

JSON = "application/json"


class Text(str):
    __slots__ = ()


class Place(Struct, forbid_unknown_fields=True):
    """The place of a thing."""

    name: Text
    floor: Annotated[int | None, Meta(description="From 0.")] = None


class Optional(DescribedBody):
    is_required = False


def negotiate(request: Request) -> None:
    request.media_type = JSON


async def move(
    thing: Annotated[str, Path(description="The thing.")],
    body: Annotated[None, Depends(DescribedBody(Place, {"text/plain": str}))],
) -> NoContent:
    """Move a thing."""
    del body
    return NoContent() if thing != "stone" else Response("too heavy", 409)  # type: ignore[return-value]


async def ask(
    *, body: Annotated[None, Depends(Optional(Annotated[Place, Meta(extra_json_schema={"minProperties": 1})]))]
) -> Response:
    """Ask for a thing."""
    del body
    return Response("asked")


MOVE = Row("POST", "/things/{thing:path}", "move", OPEN, move, negotiate)
ASK = Row("POST", "/ask", "ask", OPEN, ask, negotiate)
LATER = {"description": "Seconds.", "schema": {"type": "integer"}}
DESCRIPTION = Description(
    info={"title": "Things", "version": "1"},
    tags=[],
    error=Place,
    error_media_types=[JSON],
    media_types={negotiate: MediaTypes(produced=[JSON], consumed=[JSON])},
    answers={"ask": {200: Answer("The answer."), 429: Answer("Later.", headers={"Retry-After": LATER})}},
    tag_of=lambda _row: "things",
    error_text="A fault.",
    servers=({"url": "/x"},),
)


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return DESCRIPTION.document([MOVE, ASK])


def test_the_shape_that_reads_a_body_describes_it(document: dict[str, Any]) -> None:
    assert document["components"]["schemas"]["Place"] == {
        "description": "The place of a thing.",
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "floor": {"description": "From 0.", "anyOf": [{"type": "integer"}, {"type": "null"}]},
        },
        "required": ["name"],
        "additionalProperties": False,
    }


def test_a_body_is_required_unless_its_dependency_says_otherwise(document: dict[str, Any]) -> None:
    place = {"$ref": "#/components/schemas/Place"}
    assert document["paths"]["/things/{thing}"]["post"]["requestBody"] == {
        "required": True,
        "content": {JSON: {"schema": place}, "text/plain": {"schema": {"type": "string"}}},
    }
    assert document["paths"]["/ask"]["post"]["requestBody"] == {
        "content": {JSON: {"schema": {"minProperties": 1, **place}}}
    }


def test_an_answer_without_a_body_is_204_unless_the_table_says_otherwise(document: dict[str, Any]) -> None:
    default = {"$ref": "#/components/responses/Error"}
    assert document["paths"]["/things/{thing}"]["post"]["responses"] == {
        "204": {"description": "It is done."},
        "default": default,
    }
    assert document["paths"]["/ask"]["post"]["responses"] == {
        "200": {"description": "The answer."},
        "429": {"description": "Later.", "headers": {"Retry-After": LATER}},
        "default": default,
    }


def test_servers_and_the_text_of_errors(document: dict[str, Any]) -> None:
    assert document["servers"] == [{"url": "/x"}]
    assert document["components"]["responses"]["Error"]["description"] == "A fault."


def around(handler: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    async def handle(request: Request) -> Response:
        if request.headers.get("x-elsewhere"):
            return Response("elsewhere")
        return await handler(request)

    return handle


async def alone(thing: Annotated[str, Path(description="The thing.")]) -> Response:
    return Response(thing)


def test_a_wrapper_of_a_handler_may_answer_before_fastapi_solves_the_parameters() -> None:
    rows = [
        Row("GET", "/things/{thing}", "alone", OPEN, Around(around, alone), negotiate),
        # Its parameter is not in the path, so that FastAPI refuses each request.
        Row("GET", "/none", "none", OPEN, Around(around, Around(around, alone)), negotiate),
    ]
    api = Api(
        name="test",
        contract="registry.yaml",
        rows=rows,
        error_response=lambda _, error: Response(error.message, error.status),
        body_limits={BodyLimit.USUAL: 100},
        unrouted_media_types=negotiate,
    )
    with TestClient(Application(api)) as client:
        assert client.get("/things/stone").text == "stone"
        assert client.get("/none").status_code == 500
        for path in ("/things/stone", "/none"):
            assert client.get(path, headers={"x-elsewhere": "1"}).text == "elsewhere"


def test_an_endpoint_of_one_parameter_is_solved_unless_it_is_the_request() -> None:
    async def bare(_request: Request) -> Response:
        return Response()

    rows = [Row("GET", "/things/{thing}", "x", OPEN, handler, negotiate) for handler in (alone, bare)]
    assert [RowRoute(row).handler is row.handler for row in rows] == [False, True]
