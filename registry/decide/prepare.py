"""Preparing a registration: write tags, inherit what is missing, pin references, parse the text."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from compat.schema import InvalidSchema, SchemaText
from registry import errors
from registry.decide.decision import Terms
from registry.decide.question import Question, Source, source_of, stored_source
from registry.offload.jobs import Canonical, Canonicalize, EditTags, Rendered
from registry.offload.parsing import invalid_schema, require_known_type
from registry.state.contract import VERSION_PROPERTY, Metadata, RuleSet
from registry.state.model import LATEST, Config, Content, context_of
from registry.state.references import require_one_version
from registry.state.resolve import pin_references
from registry.state.view import View
from registry.tags import Tags, UnknownEntity


class Registration(Struct, frozen=True):
    """A request to register a schema, or to look one up.

    Attributes:
        subject: The subject in wire form.
        content: The content as the client sent it: references not pinned, text not canonical.
        version: The required version number; 0 leaves it to the server.
        schema_id: The required id; -1 leaves it to the server.
        normalize: Store the normalised text even if the config does not ask for it.
        force: Skip the compatibility check.
        expected_latest: Register only if this is the latest live version, 0 for none; None skips the check.
        tags_to_add: Tags to write into the text.
        tags_to_remove: Tags to remove from the text.
        propagate_tags: Write the latest version's tags into the text, for entities that both have.
        explain: Explain in the error why the schema is incompatible, or tell the position of a fault in its text.
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
        """Tell whether the request changes tags in the text."""
        return bool(self.tags_to_add or self.tags_to_remove or self.propagate_tags)


class Candidate(Struct, frozen=True):
    """A content in the form to be stored, and the text that it was made from.

    Attributes:
        content: The content to store.
        source: The text as the client sent it, with pinned references.
        normalized: Whether the content's text is normalised.
        fault: Why `validateFields` refuses it; empty if it does not, or is off.
        older_text: The other text that the log may have for the same schema; empty if there is none.
    """

    content: Content
    source: Source
    normalized: bool
    fault: str = ""
    older_text: str = ""

    @property
    def forms(self) -> tuple[Content, ...]:
        """The content, then the form of it that an earlier release or the reference may have stored."""
        return (self.content, self.content.with_text(self.older_text)) if self.older_text else (self.content,)


def write_tags(view: View, request: Registration, terms: Terms) -> Registration:
    """Apply the request's changes of tags to its text; if it adds or removes tags, it gets the version property too.

    Raises:
        ApiError: 42201 if there is no schema, or it lacks an entity to tag.
    """
    if not request.edits_tags:
        return request
    latest = view.latest(request.subject)
    if request.content.is_blank and latest is not None:
        old = latest.content
        content = replace(request.content, text=old.text, schema_type=old.schema_type, references=old.references)
        request = replace(request, content=content)
    if request.content.is_blank:
        raise errors.EMPTY_SCHEMA()
    schema_type = request.content.schema_type
    propagates = request.propagate_tags and latest is not None and latest.schema_type == schema_type
    task = EditTags(tuple(request.tags_to_add.items()), tuple(request.tags_to_remove.items()))
    try:
        source = pinned_source(view, request, strict=False)
        question = Question(source, task, stored_source(view, latest) if latest is not None and propagates else None)
        text = terms.ask(view, question, Rendered).text
    except InvalidSchema as error:
        raise invalid_schema(error, explain=request.explain) from None
    except UnknownEntity as error:
        raise errors.INVALID_SCHEMA(type=schema_type, details=error) from None
    version = request.version if request.version or not (request.tags_to_add or request.tags_to_remove) else LATEST
    return replace(request, content=replace(request.content, text=text), version=version)


def inherit(view: View, request: Registration, config: Config, next_number: int) -> Registration:
    """Fill in what the request omits from the latest version, and apply the config's defaults and overrides."""
    content = request.content
    latest = view.latest(request.subject)
    previous = latest.content if latest else None
    if content.is_blank:
        if previous is None:
            raise errors.EMPTY_SCHEMA()
        content = replace(content, text=previous.text, schema_type=previous.schema_type, references=previous.references)
    metadata = content.metadata or (previous.metadata if previous else None)
    rule_set = content.rule_set or (previous.rule_set if previous else None)
    if config.edits_contents:
        metadata = _merge_metadata(config.default_metadata, metadata, config.override_metadata)
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
    """Pin the references, parse the text, and bring it into the form to store.

    Raises:
        ApiError: 42201.
    """
    content = request.content
    if content.is_blank:
        raise errors.EMPTY_SCHEMA()
    validate = terms.validate_new_schemas if config.validate_new_schemas is None else config.validate_new_schemas
    normalize = bool(request.normalize or config.normalize)
    task = Canonicalize(strict and validate, normalize, check_fields=strict and validates_fields(config, terms))
    try:
        source = pinned_source(view, request, strict=task.strict)
        if strict and terms.strict_reference_versions:
            require_one_version(view, source.context, source.schema)
        canonical = terms.ask(view, Question(source, task), Canonical)
    except InvalidSchema as error:
        raise invalid_schema(error, explain=request.explain) from None
    text, references = canonical.text, source.schema.references
    if normalize:
        references = tuple(sorted(set(references), key=lambda ref: (ref.name, ref.subject, ref.version)))
    if text != content.text or references != content.references:
        content = Content(content.schema_type, text, references, content.metadata, content.rule_set)
    return Candidate(content, source, normalize, canonical.fault, canonical.older_text)


def pinned_source(view: View, request: Registration, *, strict: bool) -> Source:
    """The text of a request as it was sent, with pinned references.

    Raises:
        ApiError: 42201 for an unknown type.
        InvalidSchema: A reference leads nowhere.
    """
    content, context = request.content, context_of(request.subject)
    pinned = pin_references(view, context, content.references, content.schema_type, allow_deleted=not strict)
    require_known_type(content.schema_type)
    return source_of(view, context, SchemaText(content.schema_type, content.text, pinned))


def validates_fields(config: Config, terms: Terms) -> bool:
    """Tell whether `validateFields` is on."""
    return terms.validate_fields if config.validate_fields is None else config.validate_fields


def require_valid_fields(candidate: Candidate, request: Registration) -> None:
    """Check that `validateFields` has not refused the candidate.

    Raises:
        ApiError: 42201.
    """
    if candidate.fault:
        raise errors.INVALID_SCHEMA_VERSION(
            subject=request.subject,
            version=request.version,
            id=request.schema_id,
            type=candidate.content.schema_type,
            details=candidate.fault,
        )
