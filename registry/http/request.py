"""What a request says: subjects, versions, flags and bodies, checked."""

from __future__ import annotations

import re
from typing import Any, cast
from urllib.parse import unquote

import orjson
from fastapi import Request
from starlette.requests import ClientDisconnect

from compat.schema import AVRO, Reference
from magicbyte.http.asgi import header
from magicbyte.http.errors import MALFORMED_BODY
from magicbyte.http.negotiation import charset_of
from registry import errors
from registry.contract import Metadata, RuleSet
from registry.decide import Registration, Tagging
from registry.model import (
    DEFAULT_CONTEXT,
    GLOBAL_CONTEXT,
    LATEST,
    MAX_VERSION,
    Content,
    SubjectName,
    in_context,
    parse_subject,
)
from registry.resolve import resolve_alias, settings_key
from registry.service import Registry
from registry.tags import FIELD, RECORD, SchemaEntity, Tags

#: A path segment that is a subject as it stands, in the context around it.
_PLAIN_SUBJECT = re.compile(r"[A-Za-z0-9.][A-Za-z0-9._-]*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_RESERVED_NAMES = frozenset({"__GLOBAL", "__EMPTY"})


class WholeBodyRequest(Request):
    """A request whose body is read at once, without the stream that Starlette reads it through."""

    async def body(self) -> bytes:
        """The body, kept for those who ask again.

        Raises:
            ClientDisconnect: The client has gone before it had sent all.
        """
        if not hasattr(self, "_body"):
            message = await self.receive()
            chunks = [message.get("body", b"")]
            while message.get("more_body"):
                message = await self.receive()
                chunks.append(message.get("body", b""))
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            self._body = b"".join(chunks)
        return self._body


def registry_of(request: Request) -> Registry:
    """The registry that serves this request."""
    return cast("Registry", request.app.state.registry)


def context_of_request(request: Request) -> str:
    """The context that a /contexts/... prefix named, else the default one."""
    return str(request.scope.get("state", {}).get("context", DEFAULT_CONTEXT))


def subject_of(request: Request) -> str:
    """The subject that the path names, in wire form, an alias followed.

    Raises:
        ApiError: 42208.
    """
    subject = _checked_subject(request, allow_global=False)
    return resolve_alias(registry_of(request).view, subject)


def settings_subject_of(request: Request) -> str | None:
    """The subject or context whose config or mode the path names; None for the global one.

    Raises:
        ApiError: 42208.
    """
    if "subject" not in request.path_params:
        context = context_of_request(request)
        return None if context == DEFAULT_CONTEXT else str(SubjectName(context, ""))
    return settings_key(_checked_subject(request, allow_global=True))


def _checked_subject(request: Request, *, allow_global: bool) -> str:
    given: str = request.path_params["subject"]
    around = context_of_request(request)
    if around == DEFAULT_CONTEXT and _PLAIN_SUBJECT.fullmatch(given):
        return given
    raw = unquote(given)
    subject = str(parse_subject(in_context(around, raw)))
    context, name = parse_subject(subject)
    refused = (
        bool(_CONTROL.search(subject))
        or name in _RESERVED_NAMES
        or (context == GLOBAL_CONTEXT and not allow_global)
        or (registry_of(request).settings.reject_empty_subject and name in ("", "*") and not allow_global)
    )
    if refused:
        raise errors.INVALID_SUBJECT(subject=raw)
    return subject


def version_of(request: Request) -> int | None:
    """The version that the path names; None for `latest`.

    Raises:
        ApiError: 42202.
    """
    raw = unquote(request.path_params["version"])
    text = raw.strip()
    if text.lower() == "latest" or text == "-1":
        return None
    if not re.fullmatch(r"\+?[0-9]{1,10}", text) or not 1 <= int(text) <= MAX_VERSION:
        raise errors.INVALID_VERSION(version=raw)
    return int(text)


def id_of(request: Request) -> int:
    """The schema id that the path names; anything but an integer is no route."""
    raw = unquote(request.path_params["id"])
    if not re.fullmatch(r"[+-]?[0-9]{1,10}", raw) or abs(int(raw)) > MAX_VERSION:
        raise errors.HTTP_NOT_FOUND()
    return int(raw)


def flag(request: Request, name: str) -> bool:
    """A boolean query parameter; absent, or anything but true, is false."""
    # Most requests have no query at all, and reading one takes longer than asking whether there is one.
    return bool(request.scope["query_string"]) and request.query_params.get(name, "").lower() == "true"


def number(request: Request, name: str, default: int) -> int:
    """An integer query parameter.

    Raises:
        ApiError: 404, as the reference answers a parameter that is no number.
    """
    raw = request.query_params.get(name) if request.scope["query_string"] else None
    if raw is None or not raw.strip():
        return default
    if not re.fullmatch(r"[+-]?[0-9]{1,10}", raw):
        raise errors.HTTP_NOT_FOUND()
    return int(raw)


def page(request: Request, items: list[Any], *, default_limit: int, max_limit: int) -> list[Any]:
    """The part of a list that offset and limit ask for; a limit out of bounds counts as absent."""
    offset = max(0, number(request, "offset", 0))
    limit = number(request, "limit", -1)
    return items[offset : offset + (limit if 0 < limit <= max_limit else default_limit)]


async def body_of(request: Request) -> dict[str, Any]:
    """The body's JSON object.

    Raises:
        ApiError: 400 where it is not JSON or no object, 422 where it is empty or null.
    """
    raw = await request.body()
    charset = charset_of(header(request.scope, b"content-type"))
    try:
        text = raw if charset.lower() in _JSON_CHARSETS else raw.decode(charset).encode()
    except (LookupError, UnicodeDecodeError) as error:
        raise MALFORMED_BODY(detail=f"the body is not {charset}: {error}") from None
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        if not text.strip():
            raise errors.MISSING_BODY(detail="The request body may not be null") from None
        raise MALFORMED_BODY(detail=f"the body is not JSON: {error}") from None
    if value is None:
        raise errors.MISSING_BODY(detail="The request body may not be null")
    if not isinstance(value, dict):
        raise MALFORMED_BODY(detail=f"the body must be a JSON object, not {_kind(value)}")
    return value


#: Those of which JSON in UTF-8 is one, or a superset.
_JSON_CHARSETS = frozenset({"utf-8", "utf8", "us-ascii", "ascii"})


async def registration_of(request: Request, subject: str) -> Registration:
    """The schema in the body of a register, look-up or compatibility request.

    Raises:
        ApiError: 400 where a field has the wrong shape.
    """
    body = await body_of(request)
    schema_type = _field(body, "schemaType", str, None) or AVRO
    try:
        metadata, rule_set = Metadata.from_json(body.get("metadata")), RuleSet.from_json(body.get("ruleSet"))
    except TypeError as error:
        raise MALFORMED_BODY(detail=error) from None
    content = Content(
        schema_type.upper(),
        _field(body, "schema", str, None) or "",
        tuple(_reference(each, index) for index, each in enumerate(_field(body, "references", list, None) or ())),
        metadata,
        rule_set,
    )
    normalize, force, explain = flag(request, "normalize"), flag(request, "force"), flag(request, "explain")
    if _CONTENT_FIELDS.issuperset(body):
        return Registration(subject, content, normalize=normalize, force=force, explain=explain)
    return Registration(
        subject,
        content,
        version=_field(body, "version", int, None) or 0,
        schema_id=-1 if (schema_id := _field(body, "id", int, None)) is None else schema_id,
        normalize=normalize,
        force=force,
        tags_to_add=_tags(body, "schemaTagsToAdd"),
        tags_to_remove=_tags(body, "schemaTagsToRemove"),
        propagate_tags=bool(_field(body, "propagateSchemaTags", bool, None)),
        explain=explain,
    )


#: What most bodies say, which is nothing besides the content.
_CONTENT_FIELDS = frozenset({"schema", "schemaType", "references", "metadata", "ruleSet"})


async def tagging_of(request: Request, subject: str, number: int | None) -> Tagging:
    """The wishes in the body of a request for a version with other tags, metadata or rules.

    Raises:
        ApiError: 400 where a field has the wrong shape.
    """
    body = await body_of(request)
    try:
        metadata = Metadata.from_json(body.get("metadata"))
        rule_set, merge = RuleSet.from_json(body.get("ruleSet")), RuleSet.from_json(body.get("rulesToMerge"))
    except TypeError as error:
        raise MALFORMED_BODY(detail=error) from None
    return Tagging(
        subject,
        number,
        new_version=_field(body, "newVersion", int, None) or LATEST,
        add=_tags(body, "tagsToAdd"),
        remove=_tags(body, "tagsToRemove"),
        metadata=metadata,
        rule_set=rule_set,
        merge=merge,
        drop=_strings(body, "rulesToRemove"),
    )


def _tags(body: dict[str, Any], name: str) -> Tags:
    """A list of SchemaTags by entity; a leading dot of a path means nothing."""
    if body.get(name) is None:
        return {}
    found: dict[SchemaEntity, tuple[str, ...]] = {}
    for index, each in enumerate(_field(body, name, list, None) or ()):
        where = f"{name}[{index}]."
        if not isinstance(each, dict):
            raise MALFORMED_BODY(detail=f"{where[:-1]} must be an object, not {_kind(each)}")
        entity = _field(each, "schemaEntity", dict, None, where) or {}
        path = _field(entity, "entityPath", str, None, f"{where}schemaEntity.")
        kind = _field(entity, "entityType", str, None, f"{where}schemaEntity.")
        if not path or kind not in (RECORD, FIELD):
            raise MALFORMED_BODY(
                detail=f"{where}schemaEntity needs an entityPath, and an entityType of {RECORD} or {FIELD}"
            )
        key = SchemaEntity(path.removeprefix("."), kind)
        found[key] = (*found.get(key, ()), *_strings(each, "tags", where))
    return found


def _strings(body: dict[str, Any], name: str, where: str = "") -> list[str]:
    values = _field(body, name, list, None, where) or []
    for index, value in enumerate(values):
        if not isinstance(value, str):
            raise MALFORMED_BODY(detail=f"{where}{name}[{index}] must be a string, not {_kind(value)}")
    return values


def _reference(value: Any, index: int) -> Reference:
    if not isinstance(value, dict):
        raise MALFORMED_BODY(detail=f"references[{index}] must be an object, not {_kind(value)}")
    where = f"references[{index}]."
    return Reference(
        _field(value, "name", str, None, where) or "",
        _field(value, "subject", str, None, where) or "",
        _field(value, "version", int, None, where) or 0,
    )


def _field(body: dict[str, Any], name: str, kind: type, default: Any, where: str = "") -> Any:
    value = body.get(name, default)
    if value is None or (isinstance(value, kind) and not (kind is int and isinstance(value, bool))):
        if isinstance(value, int) and kind is int and not -MAX_VERSION - 1 <= value <= MAX_VERSION:
            raise MALFORMED_BODY(detail=f"{where}{name} is out of range: {value}")
        return value
    raise MALFORMED_BODY(detail=f"{where}{name} must be {_KINDS[kind]}, not {_kind(value)}")


_KINDS: dict[type, str] = {
    str: "a string",
    int: "an integer",
    list: "an array",
    dict: "an object",
    bool: "a boolean",
    float: "a number",
}


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), "null")
