"""Reading request bodies as JSON of a model, with errors that name the member at fault."""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, SchemaValidator

from magicbyte.http.asgi import header
from magicbyte.http.errors import MALFORMED_BODY
from magicbyte.http.routing.negotiation import charset_of
from magicbyte.http.routing.request import Request
from registry import errors
from registry.state.json_text import load_json

#: The types of JSON in pydantic's errors, in words.
_EXPECTED: Mapping[str, str] = {
    "string_type": "a string",
    "int_type": "an integer",
    "bool_type": "a boolean",
    "list_type": "an array",
    "dict_type": "an object",
}
_OUT_OF_RANGE = frozenset({"greater_than_equal", "less_than_equal"})
_KINDS: Mapping[type, str] = {
    str: "a string",
    int: "an integer",
    list: "an array",
    dict: "an object",
    bool: "a boolean",
    float: "a number",
}


class BodyReader:
    """Reads a body into the model that describes it; members that the model does not have are left out."""

    def __init__(self, model: Any) -> None:
        """Take a model, which the first body compiles.

        Args:
            model: A type whose JSON pydantic reads strictly: a number is no string, and the reverse.
        """
        self.model = model

    @cached_property
    def _validator(self) -> SchemaValidator:
        return SchemaValidator(_failing_fast(TypeAdapter(self.model).core_schema))

    async def read(self, request: Request) -> Any:
        """Return the body of a request, whatever media type it has.

        Raises:
            ApiError: 400 if it is not JSON or a member has the wrong type, 422 if it is empty or null.
        """
        return self.read_value(await json_of(request))

    def read_value(self, value: Any) -> Any:
        """Return a JSON value in the form of the model.

        Raises:
            ApiError: 400 if a member has the wrong type.
        """
        try:
            return self._validator.validate_python(value, strict=True)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
        raise MALFORMED_BODY(detail=_text_of(first))


def _failing_fast(schema: Any) -> Any:
    """The same schema, whose arrays and objects end with their first error.

    Else a body of a megabyte may have as many errors as bytes, which would take seconds and gigabytes to collect.
    """
    if isinstance(schema, list):
        return [_failing_fast(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    parts = {name: _failing_fast(part) for name, part in schema.items()}
    # In a mapping of members by name, "type" may be the name of one.
    is_collection = parts.get("type") in ("list", "dict")
    return {**parts, "fail_fast": True} if is_collection else parts


def _text_of(error: ErrorDetails) -> str:
    found, kind = error["input"], error["type"]
    place = _place(error["loc"])
    if kind in _OUT_OF_RANGE:
        return f"{place} is out of range: {found}"
    if kind == "literal_error":
        return f"{place} must be one of {error['ctx']['expected'].replace(chr(39), '')}"
    if kind not in _EXPECTED:
        return f"{place}: {error['msg']}"
    expected = _EXPECTED[kind] if place else "a JSON object"
    return f"{place or 'the body'} must be {expected}, not {_KINDS.get(type(found), 'null')}"


def _place(location: Sequence[int | str]) -> str:
    """The place of a member, such as `references[0].name`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)
    return "".join(steps).removeprefix(".")


async def json_of(request: Request) -> Any:
    """The body's JSON value.

    Raises:
        ApiError: 400 if it is not JSON, 422 if it is empty or null.
    """
    raw = await request.body()
    charset = charset_of(header(request.scope, b"content-type"))
    try:
        text = raw if charset.lower() in _JSON_CHARSETS else _in_utf_8(raw, charset)
    except (LookupError, UnicodeError) as error:
        raise MALFORMED_BODY(detail=f"the body is not {charset}: {error}") from None
    try:
        value = load_json(text)
    except orjson.JSONDecodeError as error:
        if not text.strip():
            raise errors.MISSING_BODY(detail="The request body may not be null") from None
        raise MALFORMED_BODY(detail=f"the body is not JSON: {error}") from None
    if value is None:
        raise errors.MISSING_BODY(detail="The request body may not be null")
    return value


def _in_utf_8(raw: bytes, charset: str) -> bytes:
    # Python decodes more charsets; some take quadratic time, and some are not charsets.
    codec = codecs.lookup(charset).name
    if codec not in _CHARSETS:
        raise LookupError("this charset is not read here")
    return raw.decode(codec).encode()


#: The charsets that are read, by Python's names.
_CHARSETS = frozenset(
    {"utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be", "ascii", "iso8859-1", "cp1252"}
)
#: The charsets whose text is already valid UTF-8.
_JSON_CHARSETS = frozenset({"utf-8", "utf8", "us-ascii", "ascii"})
