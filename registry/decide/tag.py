"""Making a new version from an old one, with other tags, metadata or rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from compat.contracts.model import Metadata, RuleSet
from registry import errors
from registry.decide.decision import Decision
from registry.decide.question import Terms
from registry.decide.registration.register import decide_register
from registry.decide.registration.stages import Sent
from registry.state.lookup import find_version
from registry.state.model import LATEST, Version
from registry.state.view import View
from registry.tags import Tags


@dataclass(frozen=True, slots=True)
class Tagging:
    """A request for a new version that differs from an old one in tags, metadata or rules.

    Attributes:
        subject: The subject in wire form.
        number: The version to start from; None for the latest.
        new_version: The required number of the new version; 0 or -1 leaves it to the server.
        add: Tags to write into the text.
        remove: Tags to remove from the text.
        metadata: Replaces the old version's metadata.
        rule_set: Replaces the old version's rules.
        merge: Rules to add to the old version's rules.
        drop: Names of rules to remove.
    """

    subject: str
    number: int | None
    new_version: int = LATEST
    add: Tags = field(default_factory=dict)
    remove: Tags = field(default_factory=dict)
    metadata: Metadata | None = None
    rule_set: RuleSet | None = None
    merge: RuleSet | None = None
    drop: Sequence[str] = ()


def decide_tag(view: View, now: int, *, request: Tagging, terms: Terms) -> Decision[Version]:
    """Register the new version.

    Raises:
        ApiError: 40401, 40402, 42210 if rules are both replaced and changed, and any error of registering.
    """
    if request.rule_set is not None and (request.merge is not None or request.drop):
        raise errors.INVALID_RULE_SET(detail="ruleSet should be omitted if specifying rulesToMerge or rulesToRemove")
    version = find_version(view, request.subject, request.number, include_deleted=False)
    rule_set = request.rule_set or version.content.rule_set
    if request.merge is not None:
        rule_set = (rule_set or RuleSet()).merged(request.merge)
    if request.drop and rule_set is not None:
        rule_set = rule_set.without(request.drop)
    content = replace(version.content, metadata=request.metadata or version.content.metadata, rule_set=rule_set)
    sent = Sent(
        request.subject,
        content,
        version=request.new_version or LATEST,
        tags_to_add=request.add,
        tags_to_remove=request.remove,
    )
    return decide_register(view, now, sent=sent, terms=terms, anew=True)
