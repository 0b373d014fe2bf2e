"""Parameters of requests, and the plainest answers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import unquote

from magicbyte.http.errors import NOT_FOUND
from magicbyte.http.routing.request import Request
from magicbyte.http.routing.response import Json, JsonText
from magicbyte.kit.errors import ApiError
from rest_proxy.errors import BAD_REQUEST, INVALID_ENTITY
from rest_proxy.exchange.negotiation import PLAIN

_MAX_PARTITION = 2**31 - 1
_MAX_LONG = 2**63 - 1


def segment(request: Request, parameter: str) -> str:
    """A path segment, decoded from percent-encoding.

    Raises:
        ApiError: INVALID_ENTITY for a null character, which no name in Kafka may contain.
    """
    name = unquote(request.match.parameters[parameter])
    if "\0" in name:
        raise _null_character()
    return name


def name_of(raw: str) -> str:
    """A name from its text in a path. Raises as `segment`."""
    name = unquote(raw)
    if "\0" in name:
        raise _null_character()
    return name


def _null_character() -> ApiError:
    return INVALID_ENTITY(detail="a name must not hold a null character")


def partition_number(text: str) -> int:
    """A partition's number from its text in a path.

    Raises:
        ApiError: NOT_FOUND, as for any path that the API does not have.
    """
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()) or int(digits[:20]) > _MAX_PARTITION or text.startswith("-"):
        raise NOT_FOUND()
    return int(digits)


def long_query(request: Request, name: str) -> int | None:
    """A query parameter that is a whole number; None if it is missing or empty.

    Raises:
        ApiError: INVALID_ENTITY, which names it. (The reference answers 404 if it is not a number.)
    """
    # Most requests have no query, and this check is faster than parsing one.
    return long_of(name, request.query_params.get(name)) if request.scope["query_string"] else None


def long_of(name: str, text: str | None) -> int | None:
    """A whole number from its text in a query; None if it is missing or empty.

    Raises:
        ApiError: INVALID_ENTITY, which names it. (The reference answers 404 if it is not a number.)
    """
    if text is None or text == "":
        return None
    digits = text[1:] if text[0] in "+-" else text
    if not (digits.isascii() and digits.isdigit()) or len(digits) > len(str(_MAX_LONG)) or int(digits) > _MAX_LONG:
        raise INVALID_ENTITY(detail=f"{name} must be a whole number (was {text[:40]})")
    return int(text)


def shorter(requested: int | None, bound: int) -> int:
    """The requested number, at most the bound; the bound if the number is missing or not positive."""
    return bound if requested is None or requested <= 0 else min(requested, bound)


def milliseconds_of(instant: str) -> int:
    """An ISO-8601 instant as ms since the epoch; an instant without a zone is in UTC.

    Raises:
        ApiError: BAD_REQUEST.
    """
    try:
        parsed = datetime.fromisoformat(instant)
        since = (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)) - datetime.fromtimestamp(0, UTC)
    except (ValueError, OverflowError):
        raise BAD_REQUEST(detail=f"timestamp={instant[:64]} is not an ISO-8601 instant.") from None
    return max(0, since // timedelta(milliseconds=1))


def choice_query(request: Request, name: str, allowed: dict[str, str], default: str) -> str:
    """A query parameter with one of a few values.

    Raises:
        ApiError: INVALID_ENTITY, which names it and the values.
    """
    text = request.query_params.get(name) if request.scope["query_string"] else None
    if text is None:
        return default
    if text.lower() not in allowed:
        raise INVALID_ENTITY(detail=f"{name} must be one of {', '.join(allowed)} (was {text[:40]})")
    return allowed[text.lower()]


def json_response(request: Request, content: bytes, status: int = 200) -> Json[Any]:
    """A response in the negotiated media type; plain JSON if the route negotiates none."""
    response: Json[Any] = JsonText(content, status, request.media_type or PLAIN)
    return response
