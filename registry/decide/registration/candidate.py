"""Candidates: the forms in which a schema is stored, or may be stored already."""

from __future__ import annotations

from collections.abc import Iterator

from compat.formats import FORMATS
from compat.schema import InvalidSchema, SchemaText
from magicbyte.kit.errors import ApiError
from registry import errors
from registry.decide.decision import require_valid_rules
from registry.decide.question import Question, Source, Terms, source_of
from registry.decide.registration.stages import Candidate, Completed, Sent, Unparsed
from registry.offload.jobs import Canonical, Canonicalize
from registry.offload.parsing import invalid_schema
from registry.state.model import Config, Content, context_of
from registry.state.references import require_one_version
from registry.state.resolve import pin_references
from registry.state.view import View


def candidates_to_register(
    view: View, completed: Completed, terms: Terms, *, is_import: bool, may_be_stored_as_sent: bool
) -> Iterator[Unparsed | Candidate]:
    """Yield the forms in which the schema may be stored already, and last the candidate to store.

    Args:
        view: The state.
        completed: The schema.
        terms: The server's terms.
        is_import: Whether the mode imports schemas, which are checked less.
        may_be_stored_as_sent: Whether a version may equal the schema as it was sent, before it inherited anything.

    Raises:
        ApiError: The schema is refused; raised when no earlier candidate is left.
        Unanswered: The schema must be parsed elsewhere first.
    """
    strict = not is_import
    # The schema as it was sent may equal a stored version that the completed schema no longer equals.
    inherits = completed.content is not completed.sent.content
    if inherits and may_be_stored_as_sent:
        yield from _as_sent(view, completed, terms, strict_first=strict)
    if completed.content.rule_set is not None:
        require_valid_rules(completed.content.rule_set)
    try:
        candidate = candidate_of(view, completed, terms, strict=strict)
    except ApiError:
        # What the strict parse refuses may be stored all the same: by an import, or by a registry that was less strict.
        if may_be_stored_as_sent and not inherits:
            yield from _as_sent(view, completed, terms, strict_first=False)
        raise
    if strict and candidate.fault:
        raise errors.INVALID_SCHEMA_VERSION(
            subject=candidate.subject,
            version=completed.sent.version,
            id=completed.sent.schema_id,
            type=candidate.content.schema_type,
            details=candidate.fault,
        )
    yield candidate


def _as_sent(view: View, completed: Completed, terms: Terms, *, strict_first: bool) -> Iterator[Unparsed]:
    """Yield the schema as it was sent, unparsed and then parsed, unless it cannot be parsed."""
    sent, config = completed.sent, completed.config
    unparsed = unparsed_of(view, sent, config)
    if unparsed is not None:
        yield unparsed
    # The strict parse serves the registration that follows.
    for strict in (True, False) if strict_first else (False,):
        try:
            candidate = candidate_of(view, Completed.as_sent(sent, config), terms, strict=strict)
        except ApiError:
            continue
        yield candidate
        return


def unparsed_of(view: View, sent: Sent, config: Config) -> Unparsed | None:
    """The schema as it was sent, if a version may have its text; None if the stored text must be another one."""
    if sent.normalize or config.normalize or sent.content.is_blank or not view.has_text(sent.content.text):
        return None
    return Unparsed(sent.subject, sent.content)


def candidate_of(view: View, completed: Completed, terms: Terms, *, strict: bool) -> Candidate:
    """Pin the references, parse the text, and bring it into the form to store.

    Args:
        view: The state.
        completed: The schema.
        terms: The server's terms.
        strict: Whether to apply the checks for new schemas.

    Raises:
        ApiError: 42201.
        Unanswered: The schema must be parsed elsewhere first.
    """
    sent, content, config = completed.sent, completed.content, completed.config
    if content.is_blank:
        raise errors.EMPTY_SCHEMA()
    validate = terms.validate_new_schemas if config.validate_new_schemas is None else config.validate_new_schemas
    try:
        source = pinned_source(view, sent.subject, content, strict=strict and validate)
        if strict and terms.strict_reference_versions:
            require_one_version(view, source.context, source.schema)
        task = Canonicalize(strict and validate, completed.normalize, strict and terms.validates_fields(config))
        canonical = terms.ask(view, Question(source, task), Canonical)
    except InvalidSchema as error:
        raise invalid_schema(error, explain=sent.explain) from None
    text, references = canonical.text, source.schema.references
    if completed.normalize:
        references = tuple(sorted(set(references), key=lambda ref: (ref.name, ref.subject, ref.version)))
    if text != content.text or references != content.references:
        content = Content(content.schema_type, text, references, content.metadata, content.rule_set)
    return Candidate(sent.subject, content, source, completed.normalize, canonical.fault, canonical.older_text)


def pinned_source(view: View, subject: str, content: Content, *, strict: bool) -> Source:
    """The text of a content as it was sent, with pinned references.

    Args:
        view: The state.
        subject: The subject in wire form.
        content: The content.
        strict: Whether references to soft-deleted versions are refused.

    Raises:
        ApiError: 42201 for an unknown type.
        InvalidSchema: A reference leads nowhere.
    """
    context, references = context_of(subject), content.references
    if references:
        references = pin_references(view, context, references, content.schema_type, allow_deleted=not strict)
    if content.schema_type not in FORMATS:
        raise errors.UNKNOWN_SCHEMA_TYPE(type=content.schema_type)
    return source_of(view, context, SchemaText(content.schema_type, content.text, references))
