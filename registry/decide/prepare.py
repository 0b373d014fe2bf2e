"""What a registration comes to before it is judged: tags written, gaps filled, references pinned, the text parsed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from compat.schema import JSON, PROTOBUF, InvalidSchema, ParsedSchema
from registry import errors
from registry.contract import VERSION_PROPERTY, Metadata, RuleSet
from registry.decide.decision import Terms
from registry.model import LATEST, Config, Content, Version, context_of
from registry.parsing import invalid_schema
from registry.references import require_one_version
from registry.resolve import dependencies, pin_references
from registry.tags import TAG_FORMATS, Tags, UnknownEntity
from registry.view import View


class Registration(Struct, frozen=True):
    """A request to register a schema, or to look one up.

    Attributes:
        subject: In wire form.
        content: As the client sent it: references not pinned, text not canonical.
        version: The number it must get; 0 leaves it to the server.
        schema_id: The id it must get; -1 leaves it to the server.
        normalize: Store the normalised text, whatever the config says.
        force: Skip the compatibility check.
        expected_latest: Register only if this is the latest live version (0: none); None does not ask.
        tags_to_add: Tags to write into the text.
        tags_to_remove: Tags to take out of the text.
        propagate_tags: Write the latest version's tags into the text where it has the same entities.
        explain: Explain in the error why the schema is incompatible.
    """

    subject: str
    content: Content
    version: int = 0
    schema_id: int = -1
    normalize: bool = False
    force: bool = False
    expected_latest: int | None = None
    tags_to_add: Tags = {}
    tags_to_remove: Tags = {}
    propagate_tags: bool = False
    explain: bool = False

    @property
    def edits_tags(self) -> bool:
        """Tell whether the text is to be changed before it is stored."""
        return bool(self.tags_to_add or self.tags_to_remove or self.propagate_tags)


class Candidate(Struct, frozen=True):
    """A content as it would be stored, the parse that it came from, and whether its text is normalised."""

    content: Content
    parsed: ParsedSchema
    normalized: bool


def write_tags(view: View, request: Registration, config: Config, terms: Terms) -> Registration:
    """The request with the tags that it asks for in its text; one that edits tags gets the version property.

    Raises:
        ApiError: 42201 where a path leads nowhere in the schema.
    """
    if not request.edits_tags:
        return request
    latest = view.latest(request.subject)
    if request.content.is_blank and latest is not None:
        kept = latest.content
        content = replace(request.content, text=kept.text, schema_type=kept.schema_type, references=kept.references)
        request = replace(request, content=content)
    parsed = canonicalize(view, request, config, terms, strict=False).parsed
    text = _with_tags(parsed, request)
    if request.propagate_tags and latest is not None and latest.schema_type == request.content.schema_type:
        before = TAG_FORMATS[latest.schema_type].find(load(view, latest, terms))
        for entity, tags in before.items():
            edited = replace(request, content=replace(request.content, text=text), tags_to_add={entity: tags})
            with suppress(UnknownEntity):
                parsed = canonicalize(view, edited, config, terms, strict=False).parsed
                text = TAG_FORMATS[parsed.schema_type].edit(parsed, edited.tags_to_add, {})
    version = request.version if request.version or not (request.tags_to_add or request.tags_to_remove) else LATEST
    return replace(request, content=replace(request.content, text=text), version=version)


def _with_tags(parsed: ParsedSchema, request: Registration) -> str:
    if not (request.tags_to_add or request.tags_to_remove):
        return parsed.canonical
    try:
        return TAG_FORMATS[parsed.schema_type].edit(parsed, request.tags_to_add, request.tags_to_remove)
    except UnknownEntity as error:
        raise errors.INVALID_SCHEMA(type=parsed.schema_type, details=error) from None


def inherit(view: View, request: Registration, config: Config, next_number: int) -> Registration:
    """The request with what it leaves out taken from the latest version and the config's defaults and overrides."""
    content = request.content
    latest = view.latest(request.subject)
    previous = latest.content if latest else None
    if content.is_blank:
        if previous is None:
            raise errors.EMPTY_SCHEMA()
        content = replace(content, text=previous.text, schema_type=previous.schema_type, references=previous.references)
    metadata = content.metadata or (previous.metadata if previous else None)
    metadata = _merge_metadata(config.default_metadata, metadata, config.override_metadata)
    rule_set = content.rule_set or (previous.rule_set if previous else None)
    rule_set = _merge_rules(config.default_rule_set, rule_set, config.override_rule_set)
    if request.version != 0 or (metadata and VERSION_PROPERTY in metadata.properties):
        number = request.version if request.version > 0 else next_number
        metadata = (metadata or Metadata()).with_property(VERSION_PROPERTY, str(number))
    if metadata is not content.metadata or rule_set is not content.rule_set:
        content = replace(content, metadata=metadata, rule_set=rule_set)
    return request if content is request.content else replace(request, content=content)


def _merge_metadata(*layers: Metadata | None) -> Metadata | None:
    merged: Metadata | None = None
    for layer in layers:
        merged = merged.merged(layer) if merged else layer
    return merged


def _merge_rules(*layers: RuleSet | None) -> RuleSet | None:
    merged: RuleSet | None = None
    for layer in layers:
        merged = merged.merged(layer) if merged else layer
    return merged


def canonicalize(view: View, request: Registration, config: Config, terms: Terms, *, strict: bool) -> Candidate:
    """Pin the references, parse, and put the text into the form that is stored.

    Raises:
        ApiError: 42201.
    """
    content = request.content
    if content.is_blank:
        raise errors.EMPTY_SCHEMA()
    context = context_of(request.subject)
    validate = terms.validate_new_schemas if config.validate_new_schemas is None else config.validate_new_schemas
    one_version = strict and terms.strict_reference_versions
    strict = strict and validate
    try:
        pinned = pin_references(view, context, content.references, content.schema_type, allow_deleted=not strict)
        if pinned != content.references:
            content = replace(content, references=pinned)
        if one_version:
            require_one_version(view, context, content)
        parsed = terms.parse(content.schema, dependencies(view, context, content), strict=strict)
    except InvalidSchema as error:
        raise invalid_schema(error) from None
    text = parsed.canonical
    normalize = bool(request.normalize or config.normalize)
    if normalize:
        text = parsed.normalized()
        pinned = tuple(sorted(set(pinned), key=lambda each: (each.name, each.subject, each.version)))
    if text != content.text or pinned != content.references:
        content = Content(content.schema_type, text, pinned, content.metadata, content.rule_set)
    return Candidate(content, parsed, normalize)


def check_fields(candidate: Candidate, config: Config, terms: Terms, request: Registration) -> None:
    """Apply `validateFields` as far as a schema alone can break it.

    Raises:
        ApiError: 42201.
    """
    validate = terms.validate_fields if config.validate_fields is None else config.validate_fields
    check_type = _FIELD_CHECKS.get(candidate.parsed.schema_type)
    if not validate or check_type is None:
        return
    try:
        check_type(candidate.parsed)
    except InvalidSchema as error:
        raise errors.INVALID_SCHEMA_VERSION(
            subject=request.subject,
            version=request.version,
            id=request.schema_id,
            type=candidate.parsed.schema_type,
            details=error.detail,
        ) from None


def _check_json_fields(schema: ParsedSchema) -> None:
    from compat.json_schema import JsonSchema, check_fields  # noqa: PLC0415  loaded by then, since a schema is parsed

    assert isinstance(schema, JsonSchema)
    check_fields(schema)


def _check_protobuf_fields(schema: ParsedSchema) -> None:
    from compat.protobuf import ProtobufSchema, check_fields  # noqa: PLC0415  as above

    assert isinstance(schema, ProtobufSchema)
    check_fields(schema)


#: What `validateFields` asks of a schema by itself.
_FIELD_CHECKS: Mapping[str, Callable[[ParsedSchema], None]] = {
    JSON: _check_json_fields,
    PROTOBUF: _check_protobuf_fields,
}


def load(view: View, version: Version, terms: Terms) -> ParsedSchema:
    """The parse of a stored version, read leniently."""
    context = context_of(version.subject)
    return terms.parse(version.content.schema, dependencies(view, context, version.content), strict=False)
