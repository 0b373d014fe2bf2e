"""Request bodies: JSON objects, and the commands that are built from them."""

from __future__ import annotations

import codecs
from typing import Any

import orjson

from compat.contracts.model import Metadata, RuleSet
from compat.schema import AVRO, Reference
from magicbyte.http.asgi import header
from magicbyte.http.errors import MALFORMED_BODY
from magicbyte.http.routing.negotiation import charset_of
from magicbyte.http.routing.request import Request
from registry import errors
from registry.access.rights import Rights
from registry.decide import Sent, Tagging
from registry.http.request import flag, rights_of
from registry.state.json_text import load_json
from registry.state.model import LATEST, MAX_VERSION, Content
from registry.tags import FIELD, RECORD, SchemaEntity, Tags


async def body_of(request: Request) -> dict[str, Any]:
    """The body's JSON object.

    Raises:
        ApiError: 400 if it is not JSON or not an object, 422 if it is empty or null.
    """
    value = await json_of(request)
    if not isinstance(value, dict):
        raise MALFORMED_BODY(detail=f"the body must be a JSON object, not {_kind(value)}")
    return value


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


async def sent_in(request: Request, subject: str) -> Sent:
    """The schema in the body of a bare request to register or to look up.

    Raises:
        ApiError: 400 if a field has the wrong type; 40301 if the sender may not read a reference.
    """
    return sent_from(
        await body_of(request),
        subject,
        rights_of(request),
        normalize=flag(request, "normalize"),
        force=flag(request, "force"),
        explain=flag(request, "explain"),
    )


def sent_from(
    body: dict[str, Any],
    subject: str,
    rights: Rights | None,
    *,
    normalize: bool = False,
    force: bool = False,
    explain: bool = False,
) -> Sent:
    """The schema in a body.

    Args:
        body: The body's JSON object.
        subject: The subject that the schema is for.
        rights: The sender's rights; None if there are no rules.
        normalize: Whether to compare and store the normalized text.
        force: Whether to skip the compatibility check.
        explain: Whether errors explain what broke.

    Raises:
        ApiError: 400 if a field has the wrong type; 40301 if the sender may not read a reference.
    """
    schema_type = _field(body, "schemaType", str, None)
    try:
        metadata, rule_set = Metadata.from_json(body.get("metadata")), RuleSet.from_json(body.get("ruleSet"))
    except TypeError as error:
        raise MALFORMED_BODY(detail=error) from None
    content = Content(
        AVRO if schema_type is None else schema_type,
        _field(body, "schema", str, None) or "",
        tuple(
            _reference(reference, index) for index, reference in enumerate(_field(body, "references", list, None) or ())
        ),
        metadata,
        rule_set,
    )
    if rights is not None:
        rights.require_references(subject, content.references, content.schema_type)
    if _CONTENT_FIELDS.issuperset(body):
        return Sent(subject, content, normalize=normalize, force=force, explain=explain)
    return Sent(
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


#: The fields of most bodies; a body with no other field has only a content.
_CONTENT_FIELDS = frozenset({"schema", "schemaType", "references", "metadata", "ruleSet"})


def tagging_from(body: dict[str, Any], subject: str, number: int | None) -> Tagging:
    """The body of a request for a version with other tags, metadata or rules.

    Raises:
        ApiError: 400 if a field has the wrong type.
    """
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
    """A list of SchemaTags as tags by entity; a leading dot of a path is ignored."""
    if body.get(name) is None:
        return {}
    tags: dict[SchemaEntity, tuple[str, ...]] = {}
    for index, tagged in enumerate(_field(body, name, list, None) or ()):
        where = f"{name}[{index}]."
        if not isinstance(tagged, dict):
            raise MALFORMED_BODY(detail=f"{where[:-1]} must be an object, not {_kind(tagged)}")
        entity = _field(tagged, "schemaEntity", dict, None, where) or {}
        path = _field(entity, "entityPath", str, None, f"{where}schemaEntity.")
        kind = _field(entity, "entityType", str, None, f"{where}schemaEntity.")
        if not path or kind not in (RECORD, FIELD):
            raise MALFORMED_BODY(
                detail=f"{where}schemaEntity needs an entityPath, and an entityType of {RECORD} or {FIELD}"
            )
        key = SchemaEntity(path.removeprefix("."), kind)
        tags[key] = (*tags.get(key, ()), *_strings(tagged, "tags", where))
    return tags


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
