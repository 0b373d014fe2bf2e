"""Answers of the routes: the reference's objects, with keys in its order, in the negotiated media type."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import orjson
from starlette.responses import Response

from compat.schema import PROTOBUF, InvalidSchema
from magicbyte.http.asgi import Receive, Scope, Send, header, list_header
from magicbyte.http.errors import NOT_ACCEPTABLE, UNSUPPORTED_MEDIA_TYPE
from magicbyte.http.routing.negotiation import Produced, choose, consumes
from magicbyte.http.routing.request import Request
from magicbyte.http.routing.response import Json
from magicbyte.kit.errors import ApiError
from registry.decide.configure import UPDATE_NAMES
from registry.decide.question import Question, stored_source
from registry.http.request import registry_of, rights_of
from registry.offload.jobs import FindTags, Render, Rendered, TagsFound
from registry.service import Registry
from registry.state.identity import guid_of
from registry.state.model import CONFIG_NAMES, Config, Content, Version, context_of, in_context
from registry.state.records import content_extras
from registry.state.resolve import referred_subjects

V1 = "application/vnd.schemaregistry.v1+json"
PRODUCED = (Produced(V1, 1.0), Produced("application/vnd.schemaregistry+json", 0.9), Produced("application/json", 0.5))
_CONSUMED = frozenset({*(produced.essence for produced in PRODUCED), "application/octet-stream"})
_CONSUMED_LINES = _CONSUMED | {"application/x-ndjson"}
_WITH_BODY = frozenset({"POST", "PUT"})


class LeadersAnswer(Response):
    """The leader's answer to a forwarded request."""


def negotiated(request: Request) -> None:
    """Negotiate the answer's media type, and check that of the body.

    Raises:
        ApiError: 406, 415.
    """
    _negotiate(request, _CONSUMED)


def negotiated_if_possible(request: Request) -> None:
    """Negotiate the answer's media type, and use the default if the client accepts none: probes send any Accept."""
    request.media_type = choose(list_header(request.scope, b"accept"), PRODUCED) or V1


def negotiated_lines(request: Request) -> None:
    """Do the same as `negotiated` for routes whose body may be lines of JSON."""
    _negotiate(request, _CONSUMED_LINES)


def unnegotiated(request: Request) -> None:
    """Leave the answer's media type to the handler; errors have the API's media type."""
    request.media_type = V1


def _negotiate(request: Request, consumed: frozenset[str]) -> None:
    media_type = choose(list_header(request.scope, b"accept"), PRODUCED)
    if media_type is None:
        raise NOT_ACCEPTABLE()
    request.media_type = media_type
    if request.method in _WITH_BODY and not consumes(header(request.scope, b"content-type"), consumed):
        raise UNSUPPORTED_MEDIA_TYPE()


class ChunkedAnswer(Response):
    """An answer whose body is made in parts by a thread; each part is made after the previous one was sent.

    If the client disconnects, Starlette's own class leaves the iterator to the garbage collector, which runs seldom.
    """

    def __init__(self, chunks: Iterator[bytes], thread: ThreadPoolExecutor, media_type: str) -> None:
        """Make the answer.

        Args:
            chunks: The parts of the body.
            thread: The thread that makes the parts.
            media_type: The media type.
        """
        super().__init__(media_type=media_type)
        del self.headers["content-length"]
        self._chunks = chunks
        self._thread = thread

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        """Send the body until it ends or the client disconnects."""
        loop = asyncio.get_running_loop()
        leaving = loop.create_task(_disconnect(receive))
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            while (chunk := await loop.run_in_executor(self._thread, next, self._chunks, None)) is not None:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
                if leaving.done():
                    return
            await send({"type": "http.response.body", "body": b""})
        finally:
            leaving.cancel()


async def _disconnect(receive: Receive) -> None:
    """Wait until the client disconnects."""
    while (await receive())["type"] != "http.disconnect":
        pass


def answer(request: Request, value: Any, status: int = 200) -> Json[Any]:
    """A JSON answer in the negotiated media type."""
    return Json(value, status, media_type_of(request))


def text_answer(request: Request, text: str) -> Json[Any]:
    """The text of a schema in the negotiated media type: JSON for Avro and JSON Schema, not for Protobuf."""
    return Json(orjson.Fragment(text), 200, media_type_of(request))


def media_type_of(request: Request) -> str:
    """The media type of the answer; plain JSON before one is negotiated."""
    return request.media_type or "application/json"


def error_response(request: Request, error: ApiError) -> Response:
    """The answer to an error."""
    response = answer(request, error.body(), error.status)
    response.raw_headers.extend(error.header_lines())
    return response


def schema_object(version: Version, text: str | None = None) -> dict[str, Any]:
    """A version as returned by look-up and by GET of a subject's version."""
    return {"subject": version.subject, "version": version.number, "id": version.schema_id} | _content(version, text)


def registered_object(version: Version, text: str | None = None) -> dict[str, Any]:
    """A version as returned by registration."""
    return {"id": version.schema_id, "version": version.number} | _content(version, text)


def schema_string_object(version: Version, text: str | None = None, *, with_subject: bool) -> dict[str, Any]:
    """A schema as returned by GET of an id."""
    where = {"subject": version.subject, "version": version.number} if with_subject else {}
    content = _content(version, text)
    # In this object the text comes before the other parts of the content.
    return where | {name: content[name] for name in ("guid", "schemaType", "schema")} | content


def _content(version: Version, text: str | None) -> dict[str, Any]:
    content = version.content
    return {
        "guid": guid_of(content),
        "schemaType": content.schema_type,
        **content_extras(content),
        "schema": content.text if text is None else text,
        "ts": version.timestamp,
        "deleted": version.deleted,
    }


def config_object(config: Config) -> dict[str, Any]:
    """A config as returned by GET and DELETE."""
    return _config(config, CONFIG_NAMES)


def config_update_object(config: Config) -> dict[str, Any]:
    """A config as returned by PUT."""
    return _config(config, UPDATE_NAMES)


def _config(config: Config, names: dict[str, str]) -> dict[str, Any]:
    stored = config.to_json()
    return {names[field]: stored[name] for field, name in CONFIG_NAMES.items() if name in stored}


@dataclass(frozen=True, slots=True)
class Shown:
    """The form in which a request asks for a version.

    Attributes:
        form: The form of the text; "" for the stored text.
        reference_format: The form of references' subjects.
        tags: The tags to list; `*` for all.
    """

    form: str = ""
    reference_format: str = ""
    tags: frozenset[str] = frozenset()


_AS_STORED = Shown()


def shown_of(request: Request) -> Shown:
    """Return the form in which a bare request asks for a version."""
    if not request.scope["query_string"]:
        return _AS_STORED
    query = request.query_params
    return Shown(query.get("format", ""), query.get("referenceFormat", ""), frozenset(query.getlist("findTags")))


async def version_object(request: Request, version: Version, shown: Shown) -> dict[str, Any]:
    """A version's object, as a request wants it shown."""
    value = schema_object(version, await text_in_form(request, version, shown.form))
    return await with_extras(request, version, value, shown, {})


async def with_extras(
    request: Request, version: Version, value: dict[str, Any], shown: Shown, more: dict[str, Any]
) -> dict[str, Any]:
    """A version's object with the additions that a request wants, and with `more`."""
    extras = await _requested_extras(request, version, shown) | more
    if not extras:
        return value
    last = {name: value.pop(name) for name in ("ts", "deleted")}
    return value | extras | last


async def _requested_extras(request: Request, version: Version, shown: Shown) -> dict[str, Any]:
    extras: dict[str, Any] = {}
    context, references = context_of(version.subject), version.content.references
    if references and shown.reference_format.lower() == "qualified":
        extras["references"] = [
            {"name": reference.name, "subject": in_context(context, reference.subject), "version": reference.version}
            for reference in references
        ]
    if shown.tags and (tags := await _schema_tags(registry_of(request), version, shown.tags)):
        extras["schemaTags"] = orjson.Fragment(tags)
    return extras


async def _schema_tags(registry: Registry, version: Version, tag_names: frozenset[str]) -> bytes:
    """The list of entities that have one of the tags, as JSON; empty if there are none."""
    try:
        tags = await registry.ask(Question(stored_source(registry.view, version), FindTags(tag_names)), TagsFound)
    except InvalidSchema:  # a stored text that cannot be parsed has no tags
        return b""
    return tags.json


def form_sent(content: Content) -> str:
    """The form in which a client sent a text.

    A client that sends Protobuf schemas as descriptors expects a descriptor in the answer to a registration.
    """
    return _FORMS_SENT.get(content.schema_type, _no_form)(content.text)


def _no_form(_text: str) -> str:
    return ""


def _protobuf_form(text: str) -> str:
    return "serialized" if _BASE64.fullmatch(text) else ""


_BASE64 = re.compile(r"\s*[A-Za-z0-9+/=][A-Za-z0-9+/=\s]*")
_FORMS_SENT: Mapping[str, Callable[[str], str]] = {PROTOBUF: _protobuf_form}


async def text_in_form(request: Request, version: Version, asked: str, otherwise: str = "") -> str:
    """The text of a version in the form that a request asks for; the stored text if there is no such form."""
    form = asked.strip().lower() or otherwise
    if form in ("", "default"):
        return version.text
    registry = registry_of(request)
    rights = rights_of(request)
    if rights is not None and form == "resolved":
        # In the resolved form, the texts of references become part of this text.
        for subject in referred_subjects(registry.node.view, version):
            rights.require(["READ"], subject, version.subject)
    try:
        rendered = await registry.ask(Question(stored_source(registry.view, version), Render(form)), Rendered)
    except InvalidSchema:
        return version.text
    return rendered.text
