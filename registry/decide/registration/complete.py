"""Completing a schema that was sent: tags are written into its text, and it inherits what it lacks."""

from __future__ import annotations

from msgspec.structs import replace

from compat.contracts.model import VERSION_PROPERTY, Metadata, RuleSet
from compat.schema import InvalidSchema
from registry import errors
from registry.decide.question import Question, Terms, stored_source
from registry.decide.registration.candidate import pinned_source
from registry.decide.registration.stages import Completed, Sent
from registry.offload.jobs import EditTags, Rendered
from registry.offload.parsing import invalid_schema
from registry.state.model import LATEST, Config
from registry.state.view import View
from registry.tags import UnknownEntity


def completed(view: View, sent: Sent, config: Config) -> Completed:
    """A schema with what it omits taken from the latest version, and with the config's defaults and overrides.

    Raises:
        ApiError: 42201 if there is no schema.
    """
    content = sent.content
    latest = view.latest(sent.subject)
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
    if sent.version != 0 or (metadata and VERSION_PROPERTY in metadata.properties):
        number = sent.version if sent.version > 0 else view.next_number(sent.subject)
        metadata = (metadata or Metadata()).with_property(VERSION_PROPERTY, str(number))
    if metadata is not content.metadata or rule_set is not content.rule_set:
        content = replace(content, metadata=metadata, rule_set=rule_set)
    return Completed(sent, content, config, normalize=bool(sent.normalize or config.normalize))


def completed_import(sent: Sent, config: Config) -> Completed:
    """A schema to import: it inherits nothing, and is stored without normalisation."""
    return Completed(sent, sent.content, config, normalize=False)


def with_tags(view: View, sent: Sent, terms: Terms) -> Sent:
    """Apply the changes of tags to the text; a schema that adds or removes tags also gets a number.

    Raises:
        ApiError: 42201 if there is no schema, or it lacks an entity to tag.
        Unanswered: The schema must be edited elsewhere first.
    """
    latest = view.latest(sent.subject)
    if sent.content.is_blank and latest is not None:
        old = latest.content
        content = replace(sent.content, text=old.text, schema_type=old.schema_type, references=old.references)
        sent = replace(sent, content=content)
    if sent.content.is_blank:
        raise errors.EMPTY_SCHEMA()
    schema_type = sent.content.schema_type
    propagates = sent.propagate_tags and latest is not None and latest.schema_type == schema_type
    task = EditTags(tuple(sent.tags_to_add.items()), tuple(sent.tags_to_remove.items()))
    try:
        source = pinned_source(view, sent.subject, sent.content, strict=False)
        question = Question(source, task, stored_source(view, latest) if latest is not None and propagates else None)
        text = terms.ask(view, question, Rendered).text
    except InvalidSchema as error:
        raise invalid_schema(error, explain=sent.explain) from None
    except UnknownEntity as error:
        raise errors.INVALID_SCHEMA(type=schema_type, details=error) from None
    version = sent.version if sent.version or not (sent.tags_to_add or sent.tags_to_remove) else LATEST
    return replace(sent, content=replace(sent.content, text=text), version=version)


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
