"""The envelopes of v3's answers: items and collections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import Response

from magicbyte.http.routing.response import Json, JsonText
from rest_proxy.exchange.negotiation import json_bytes

JSON = "application/json"

Item = dict[str, Any]


def item(kind: str, url: str, crn: str | None, fields: Mapping[str, Any]) -> Item:
    """An item: its kind, its own URL and resource name, and its members; without a name if `crn` is None."""
    metadata = {"self": url} if crn is None else {"self": url, "resource_name": crn}
    return {"kind": kind, "metadata": metadata, **fields}


def collection(kind: str, url: str, items: Sequence[Item]) -> Item:
    """A collection of items of a kind; `next` is always null, because all items are in one answer."""
    return {"kind": f"{kind}List", "metadata": {"self": url, "next": None}, "data": items}


def joined_collection(kind: str, url: str, items: Sequence[bytes]) -> Json[Any]:
    """The answer with a collection whose items are JSON already."""
    empty = json_bytes(collection(kind, url, []))
    return json_answer(b"%b%b]}" % (empty.removesuffix(b"]}"), b",".join(items)))


def json_answer(text: bytes, status: int = 200) -> Json[Any]:
    """The answer with a body that is JSON already."""
    response: Json[Any] = JsonText(text, status, JSON)
    return response


def answer(body: Any, status: int = 200, *, location: str | None = None) -> Json[Any]:
    """The answer with a body.

    Args:
        body: The value to encode as JSON.
        status: The status.
        location: The URL for the header Location.
    """
    response = json_answer(json_bytes(body), status)
    if location is not None:
        response.raw_headers.append((b"location", location.encode()))
    return response


def created(location: str) -> Response:
    """The answer 201 without a body, with the URL for the header Location."""
    response = Response(status_code=201)
    response.raw_headers.append((b"location", location.encode()))
    return response
