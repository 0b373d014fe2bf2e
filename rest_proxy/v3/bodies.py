"""Request bodies of v3: how they are read, and the errors for bodies of another shape."""

# Older versions of FastAPI cannot resolve postponed annotations of objects that are called.
import json
from typing import Annotated, Any, TypeVar

import msgspec

from magicbyte.http.errors import MALFORMED_BODY
from magicbyte.http.routing.request import Request
from magicbyte.kit.errors import ApiError
from rest_proxy.errors import INVALID_PAYLOAD
from rest_proxy.exchange import bodies

S = TypeVar("S")
#: Text after the first JSON value is ignored, as in the reference.
_TRAILING = "JSON is malformed: trailing characters"
_FIRST = json.JSONDecoder()

NOTHING_GIVEN = "Null input provided. Data is required."


#: Java's int and short, to which the members are converted.
Int = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
Short = Annotated[int, msgspec.Meta(ge=-(2**15), le=2**15 - 1)]
Long = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class Text(str):
    """A string; scalars of other types are converted, as in the reference."""

    __slots__ = ()


def _convert(target: type, value: Any) -> Any:
    if target is Text:
        if isinstance(value, str):
            return Text(value)
        if isinstance(value, (bool, int, float)):
            return Text(msgspec.json.encode(value).decode())
        raise msgspec.ValidationError(f"Expected `str`, got `{_name(value)}`")
    raise NotImplementedError


def _name(value: Any) -> str:
    if isinstance(value, dict):
        return "object"
    return "array" if isinstance(value, list) else "null"


def reader_of(shape: type[S]) -> msgspec.json.Decoder[S]:
    """A decoder of bodies with a shape, for `read`; "5" is accepted as a number, and 5 as a `Text`."""
    return msgspec.json.Decoder(shape, strict=False, dec_hook=_convert)


def read(decoder: msgspec.json.Decoder[S], body: bytes, nothing: str | ApiError = NOTHING_GIVEN) -> S:
    """Read a required body.

    Args:
        decoder: Made by `reader_of`.
        body: The body.
        nothing: The error for a body that is empty or null; a string is the text of INVALID_PAYLOAD.

    Raises:
        ApiError: `nothing`; 400 if the text is not JSON or has wrong types; 422 if it has an unknown member.
    """
    if bodies.is_null(body):
        raise INVALID_PAYLOAD(detail=nothing) if isinstance(nothing, str) else nothing
    try:
        return bodies.read(decoder, body)
    except ApiError as error:
        if error.kind is not MALFORMED_BODY or not error.message.startswith(_TRAILING):
            raise
        text = body.decode().strip()
        return bodies.read(decoder, text[: _FIRST.raw_decode(text)[1]].encode())


class JsonBody:
    """A dependency that reads a body.

    Attributes:
        model: The type that describes the body.
        is_required: Whether a body that is empty or null is refused.
    """

    def __init__(self, shape: Any, *, model: Any = None, nothing: str | None = NOTHING_GIVEN) -> None:
        """Make the dependency.

        Args:
            shape: The shape of the body.
            model: Describes the body if the shape does not.
            nothing: The text of INVALID_PAYLOAD for a body that is empty or null; None if it then is an empty object.
        """
        self.model = shape if model is None else model
        self.is_required = nothing is not None
        self._decoder = reader_of(shape)
        self._nothing = nothing

    async def __call__(self, request: Request) -> Any:
        """Return the body in its shape.

        Raises:
            ApiError: As `read`.
        """
        body = await request.body()
        if self._nothing is None:
            return bodies.read(self._decoder, b"{}" if bodies.is_null(body) else body)
        return read(self._decoder, body, self._nothing)
