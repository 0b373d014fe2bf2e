"""Negotiation: the API version and format of a request, and the media type of its answer."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import orjson
from starlette.responses import Response

from magicbyte.http.asgi import header
from magicbyte.http.errors import NOT_ACCEPTABLE, UNSUPPORTED_MEDIA_TYPE
from magicbyte.http.routing.negotiation import Produced, choose, parse_media_type
from magicbyte.http.routing.request import Request
from magicbyte.kit.errors import ApiError
from rest_proxy.exchange.dialect import V1, V2, Dialect
from rest_proxy.formats.embedded import BINARY, FORMATS, EmbeddedFormat

#: The formats of v1.
V1_FORMATS = ("binary", "json", "avro")
_OLDEST = "application/vnd.kafka+json"
PLAIN = "application/json"


class Negotiated(NamedTuple):
    """The meaning of a media type: the version of the API, and the embedded format if it names one."""

    dialect: Dialect
    form: EmbeddedFormat | None


#: The media types of all versions of this API.
MEDIA_TYPES: dict[str, Negotiated] = {
    **{f"application/vnd.kafka.{name}.v2+json": Negotiated(V2, form) for name, form in FORMATS.items()},
    V2.generic: Negotiated(V2, None),
    **{f"application/vnd.kafka.{name}.v1+json": Negotiated(V1, FORMATS[name]) for name in V1_FORMATS},
    V1.generic: Negotiated(V1, None),
    _OLDEST: Negotiated(V1, None),
}
#: The other media types that v1 accepts, for a body without an embedded format.
_UNSPECIFIC = frozenset((PLAIN, "application/octet-stream"))

_EMBEDDED = tuple(essence for essence, negotiated in MEDIA_TYPES.items() if negotiated.form is not None)
_GENERIC = {
    V2: (Produced(V2.generic), Produced(V1.generic, 0.9), Produced(_OLDEST, 0.9), Produced(PLAIN, 0.5)),
    V1: (Produced(V1.generic), Produced(V2.generic, 0.9), Produced(_OLDEST, 0.9), Produced(PLAIN, 0.5)),
}
_WITH_EMBEDDED = {
    dialect: (*generic, *(Produced(essence, 0.1) for essence in _EMBEDDED)) for dialect, generic in _GENERIC.items()
}
_RECORDS = (
    Produced("application/vnd.kafka.binary.v2+json"),
    Produced(V2.generic),
    *(Produced(essence, 0.9) for essence in MEDIA_TYPES if essence not in (V2.generic, _EMBEDDED[0])),
    Produced(PLAIN, 0.5),
)
_V1_RECORDS = (
    *(Produced(f"application/vnd.kafka.{name}.v1+json", 1.0 if name == "binary" else 0.9) for name in V1_FORMATS),
    Produced(V1.generic, 0.9),
    Produced(_OLDEST, 0.8),
    Produced(PLAIN, 0.5),
)
_ERRORS = (Produced(PLAIN), Produced(V2.generic, 0.9), Produced(V1.generic, 0.9), Produced(_OLDEST, 0.8))


@lru_cache(maxsize=256)
def negotiated_by(content_type: str | None) -> Negotiated | None:
    """The meaning of a body's media type; v1 without a format if it is missing; None if no version accepts it."""
    if content_type is None or not content_type.strip():
        return Negotiated(V1, None)
    media = parse_media_type(content_type)
    if media is None or (media.charset or "utf-8").lower() not in ("utf-8", "utf8", "us-ascii"):
        return None
    if media.essence in _UNSPECIFIC:
        return Negotiated(V1, None)
    return MEDIA_TYPES.get(media.essence)


def _dialect_of(request: Request) -> Dialect:
    """The version of a request without an embedded format: by Content-Type, else by Accept, else v2.

    Raises:
        ApiError: UNSUPPORTED_MEDIA_TYPE for a body of another type.
    """
    content_type = header(request.scope, b"content-type")
    if content_type:
        negotiated = negotiated_by(content_type)
        if negotiated is None:
            raise UNSUPPORTED_MEDIA_TYPE()
        if content_type.partition(";")[0].strip().lower() not in _UNSPECIFIC:
            return negotiated.dialect
    accepted = (parse_media_type(part) for part in (header(request.scope, b"accept") or "").split(","))
    named = {MEDIA_TYPES[media.essence].dialect for media in accepted if media and media.essence in MEDIA_TYPES}
    return V1 if named == {V1} else V2


def _choose(request: Request, produced: tuple[Produced, ...]) -> str:
    chosen = choose(header(request.scope, b"accept"), produced)
    if chosen is None:
        raise NOT_ACCEPTABLE()
    request.media_type = chosen
    return chosen


def negotiated_of(request: Request) -> Negotiated:
    """The version and format of a request, as its row's function below has negotiated them."""
    negotiated: Negotiated = request.negotiated
    return negotiated


# The functions for rows; they raise UNSUPPORTED_MEDIA_TYPE or NOT_ACCEPTABLE.


def unnegotiated(_request: Request) -> None:
    """Negotiate nothing: the answer has a fixed type; only errors have a type that the client accepts."""


def generic(request: Request) -> None:
    """Negotiate among the generic types of the API's versions."""
    dialect = _dialect_of(request)
    request.negotiated = Negotiated(dialect, None)
    _choose(request, _GENERIC[dialect])


def generic_or_embedded(request: Request) -> None:
    """Negotiate among the generic types of the API's versions and those of embedded formats."""
    dialect = _dialect_of(request)
    request.negotiated = Negotiated(dialect, None)
    _choose(request, _WITH_EMBEDDED[dialect])


def produce(request: Request) -> None:
    """Read version and format from the body's type; v2 requires a format, v1 defaults to binary."""
    content_type, accept = header(request.scope, b"content-type"), header(request.scope, b"accept")
    request.negotiated, request.media_type = _produced(content_type, accept)


@lru_cache(maxsize=256)
def _produced(content_type: str | None, accept: str | None) -> tuple[Negotiated, str]:
    negotiated = negotiated_by(content_type)
    if negotiated is None or (negotiated.dialect is V2 and negotiated.form is None):
        raise UNSUPPORTED_MEDIA_TYPE()
    chosen = choose(accept, _GENERIC[negotiated.dialect])
    if chosen is None:
        raise NOT_ACCEPTABLE()
    return Negotiated(negotiated.dialect, negotiated.form or BINARY), chosen


def records(request: Request) -> None:
    """Negotiate the format of records; binary if the type names none, the instance's for plain JSON (only ours)."""
    chosen = _choose(request, _RECORDS)
    request.negotiated = Negotiated(V2, None if chosen == PLAIN else MEDIA_TYPES[chosen].form or BINARY)


def v1_records(request: Request) -> None:
    """Negotiate the format of records among those of v1; binary if the type names none."""
    chosen = _choose(request, _V1_RECORDS)
    request.negotiated = Negotiated(V1, (MEDIA_TYPES[chosen].form if chosen in MEDIA_TYPES else None) or BINARY)


def error_response(request: Request, error: ApiError) -> Response:
    """The response to an error: its JSON, or an empty body if no type is acceptable."""
    if error.kind is NOT_ACCEPTABLE:
        return Response(status_code=error.status)
    media_type = request.media_type or choose(header(request.scope, b"accept"), _ERRORS) or PLAIN
    response = Response(json_bytes(error.body()), error.status, media_type=media_type)
    response.raw_headers.extend(error.header_lines())
    return response


def json_bytes(value: object) -> bytes:
    """Encode a body of this API."""
    return orjson.dumps(value)
