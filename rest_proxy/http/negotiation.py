"""Which version and format a request speaks, and which media type its answer has."""

from __future__ import annotations

from typing import NamedTuple

import orjson
from fastapi import Request, Response

from magicbyte.errors import ApiError
from magicbyte.http.errors import NOT_ACCEPTABLE, UNSUPPORTED_MEDIA_TYPE
from magicbyte.http.negotiation import MediaType, Produced, choose, parse_media_type
from rest_proxy.dialect import V1, V2, Dialect
from rest_proxy.formats import BINARY, FORMATS, EmbeddedFormat

#: Formats that the oldest API knew.
V1_FORMATS = ("binary", "json", "avro")
_OLDEST = "application/vnd.kafka+json"
_PLAIN = "application/json"


class Spoken(NamedTuple):
    """What a media type says: the API's version, and the embedded format if it names one."""

    dialect: Dialect
    form: EmbeddedFormat | None


#: Every media type that stands for a version of this API.
MEDIA_TYPES: dict[str, Spoken] = {
    **{f"application/vnd.kafka.{name}.v2+json": Spoken(V2, form) for name, form in FORMATS.items()},
    V2.generic: Spoken(V2, None),
    **{f"application/vnd.kafka.{name}.v1+json": Spoken(V1, FORMATS[name]) for name in V1_FORMATS},
    V1.generic: Spoken(V1, None),
    _OLDEST: Spoken(V1, None),
}
#: What the oldest API takes besides, for a body without a format of its own.
_UNSPECIFIC = frozenset((_PLAIN, "application/octet-stream"))

_EMBEDDED = tuple(essence for essence, spoken in MEDIA_TYPES.items() if spoken.form is not None)
_GENERIC = {
    V2: (Produced(V2.generic), Produced(V1.generic, 0.9), Produced(_OLDEST, 0.9), Produced(_PLAIN, 0.5)),
    V1: (Produced(V1.generic), Produced(V2.generic, 0.9), Produced(_OLDEST, 0.9), Produced(_PLAIN, 0.5)),
}
_WITH_EMBEDDED = {
    dialect: (*generic, *(Produced(essence, 0.1) for essence in _EMBEDDED)) for dialect, generic in _GENERIC.items()
}
_RECORDS = (
    Produced("application/vnd.kafka.binary.v2+json"),
    Produced(V2.generic),
    *(Produced(essence, 0.9) for essence in MEDIA_TYPES if essence not in (V2.generic, _EMBEDDED[0])),
    Produced(_PLAIN, 0.5),
)
_V1_RECORDS = (
    *(Produced(f"application/vnd.kafka.{name}.v1+json", 1.0 if name == "binary" else 0.9) for name in V1_FORMATS),
    Produced(V1.generic, 0.9),
    Produced(_OLDEST, 0.8),
    Produced(_PLAIN, 0.5),
)
_ERRORS = (Produced(_PLAIN), Produced(V2.generic, 0.9), Produced(V1.generic, 0.9), Produced(_OLDEST, 0.8))


def speaks(content_type: str | None) -> Spoken | None:
    """What the type of a body says; None where no version of this API takes it. Without a header: nothing special."""
    if content_type is None or not content_type.strip():
        return Spoken(V1, None)
    media = parse_media_type(content_type)
    if media is None or (media.charset or "utf-8").lower() not in ("utf-8", "utf8", "us-ascii"):
        return None
    if media.essence in _UNSPECIFIC:
        return Spoken(V1, None)
    return MEDIA_TYPES.get(media.essence)


def produce_format(content_type: str | None) -> tuple[Dialect, EmbeddedFormat]:
    """Version and format of a produce request; v2 has to name a format, v1 means binary without.

    Raises:
        ApiError: UNSUPPORTED_MEDIA_TYPE.
    """
    spoken = speaks(content_type)
    if spoken is None or (spoken.dialect is V2 and spoken.form is None):
        raise UNSUPPORTED_MEDIA_TYPE()
    return spoken.dialect, spoken.form or BINARY


def dialect_of(request: Request) -> Dialect:
    """The version that a request without an embedded format speaks: by its body's type, else by Accept, else v2.

    Raises:
        ApiError: UNSUPPORTED_MEDIA_TYPE for a body of another type.
    """
    content_type = request.headers.get("content-type")
    if content_type:
        spoken = speaks(content_type)
        if spoken is None:
            raise UNSUPPORTED_MEDIA_TYPE()
        if content_type.partition(";")[0].strip().lower() not in _UNSPECIFIC:
            return spoken.dialect
    accepted = accepted_types(request)
    named = {MEDIA_TYPES[media.essence].dialect for media in accepted if media.essence in MEDIA_TYPES}
    return V1 if named == {V1} else V2


def accepted_types(request: Request) -> list[MediaType]:
    """The Accept header's ranges, best first."""
    header = request.headers.get("accept") or ""
    ranges = [media for part in header.split(",") if (media := parse_media_type(part))]
    return sorted(ranges, key=lambda media: -media.quality)


def answer_type(request: Request, dialect: Dialect, *, embedded: bool = False) -> str:
    """The media type of the answer, which errors raised later have as well.

    Args:
        request: The request.
        dialect: The version whose generic type stands first.
        embedded: The types of embedded formats are acceptable too.

    Raises:
        ApiError: NOT_ACCEPTABLE.
    """
    chosen = choose(request.headers.get("accept"), (_WITH_EMBEDDED if embedded else _GENERIC)[dialect])
    if chosen is None:
        raise NOT_ACCEPTABLE()
    request.state.media_type = chosen
    return chosen


def wanted_format(request: Request) -> tuple[str, EmbeddedFormat | None]:
    """The media type of an answer that holds records, and the format that it asks for.

    Binary where none is named; plain JSON (ours) leaves the format to the instance.

    Raises:
        ApiError: NOT_ACCEPTABLE.
    """
    chosen = choose(request.headers.get("accept"), _RECORDS)
    if chosen is None:
        raise NOT_ACCEPTABLE()
    request.state.media_type = chosen
    return chosen, None if chosen == _PLAIN else MEDIA_TYPES[chosen].form or BINARY


def v1_format(request: Request) -> tuple[str, EmbeddedFormat | None]:
    """As wanted_format, for the oldest API: binary where none is named.

    Raises:
        ApiError: NOT_ACCEPTABLE.
    """
    chosen = choose(request.headers.get("accept"), _V1_RECORDS)
    if chosen is None:
        raise NOT_ACCEPTABLE()
    request.state.media_type = chosen
    return chosen, MEDIA_TYPES[chosen].form if chosen in MEDIA_TYPES else None


def error_response(request: Request, error: ApiError) -> Response:
    """The answer to an error: its JSON, or nothing at all where no type is acceptable."""
    if error.kind is NOT_ACCEPTABLE:
        return Response(status_code=error.status)
    media_type = getattr(request.state, "media_type", None) or choose(request.headers.get("accept"), _ERRORS) or _PLAIN
    return Response(json_bytes(error.body()), error.status, error.headers, media_type)


def json_bytes(value: object) -> bytes:
    """A body of this API."""
    return orjson.dumps(value)
