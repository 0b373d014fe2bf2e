"""Judging whether a candidate is compatible with the versions of its subject."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from msgspec.structs import replace

from compat.contracts.model import RESERVED_PROPERTY, Metadata
from compat.engine import selected
from compat.level import LEVELS, Policy
from registry.decide.question import Question, Terms
from registry.decide.registration.stages import Candidate, Completed
from registry.offload.jobs import Compared, Judge
from registry.state.model import LOGICAL_POLICY, Config, Version
from registry.state.view import View

log = logging.getLogger("magicbyte.registry.decide")

_JUDGED_AS_STRICT = "compatibilityPolicy LOGICAL is not supported: judged as STRICT"


def require_compatible(view: View, completed: Completed, candidate: Candidate, terms: Terms) -> None:
    """Check that a candidate is compatible, at the level of its config.

    Raises:
        ApiError: The server's error for incompatible schemas, or the comparison takes too much work.
        Unanswered: The candidate must be judged elsewhere first.
    """
    explain = completed.sent.explain
    verdict = judge(view, candidate, completed.config, terms, explain=explain)
    if verdict.compatible:
        return
    details = f"[{', '.join((*verdict.messages, *verdict.notes))}]"
    refusal = terms.incompatible(subject=candidate.subject, details=details)
    raise refusal.with_extra(explanations=list(verdict.explanations)) if explain else refusal


def judge(
    view: View,
    candidate: Candidate,
    config: Config,
    terms: Terms,
    versions: Sequence[Version] | None = None,
    *,
    explain: bool = False,
    every: bool = False,
) -> Compared:
    """Judge whether a candidate is compatible with the versions of a subject, at the config's level.

    Args:
        view: The view that resolves references.
        candidate: The new schema.
        config: The config in effect for the subject.
        terms: The server's terms.
        versions: The versions to compare with, by number; None for all live ones.
        explain: Whether to explain incompatibilities.
        every: Whether to compare with all versions in both directions, in addition to the level's verdict.

    Raises:
        ApiError: The comparison takes too much work.
        Unanswered: The candidate must be judged elsewhere first.
    """
    earlier = view.live_versions(candidate.subject) if versions is None else versions
    validate_fields = terms.validates_fields(config)
    if not (earlier or validate_fields):
        return Compared()
    group = config.compatibility_group
    if group is not None:
        value = _property(candidate.content.metadata, group)
        earlier = [version for version in earlier if _property(version.content.metadata, group) == value]
    level = LEVELS.get(config.compatibility_level or "", LEVELS[terms.default_level])
    policy = Policy.LENIENT if config.compatibility_policy == Policy.LENIENT else Policy.STRICT
    reserved: tuple[str | None, str | None] = (None, None)
    if validate_fields:
        before = earlier[-1].content.metadata if earlier else None
        reserved = _property(candidate.content.metadata, RESERVED_PROPERTY), _property(before, RESERVED_PROPERTY)
    compared = tuple(earlier) if every else tuple(selected(earlier, level))[::-1]
    if not compared and reserved == (None, None):
        return Compared()
    task = Judge(level.name, policy, validate_fields, reserved, explain, every)
    question = Question(candidate.source, task, earlier=compared, moved=view.references_moved)
    verdict = terms.ask(view, question, Compared)
    if config.compatibility_policy == LOGICAL_POLICY and compared:
        log.warning(
            "the compatibilityPolicy of %s is LOGICAL, which is not supported: judged as STRICT",
            candidate.subject,
            extra={"event": "policy_unsupported", "subject": candidate.subject},
        )
        return replace(verdict, notes=(_JUDGED_AS_STRICT,))
    return verdict


def _property(metadata: Metadata | None, name: str) -> str | None:
    return metadata.properties.get(name) if metadata else None
