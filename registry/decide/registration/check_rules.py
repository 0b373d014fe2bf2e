"""Checking the rules of a schema before it is stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from compat.contracts.findings.finding import Severity
from compat.contracts.model import Metadata, RuleSet
from compat.schema import InvalidSchema
from registry import errors
from registry.decide.question import OFF, REFUSE, Question, Source, Terms
from registry.decide.registration.stages import Candidate
from registry.offload.jobs import CheckRules, RulesChecked
from registry.state.model import Content, Version
from registry.state.view import View

#: How many of the newest versions are looked at for fields that a rule reads.
EARLIER = 10
#: How many findings the text of an error has; the error's object has all.
_MOST_IN_TEXT = 5


def rule_warnings(view: View, candidate: Candidate, terms: Terms) -> tuple[str, ...]:
    """Check the rules of a candidate, as the settings say; returns the findings that do not refuse it, for the log.

    A rule set that the latest version has as well is never refused.

    Raises:
        ApiError: 42210 with the findings, or 42209 if the check takes too long.
        Unanswered: The rules must be checked elsewhere first.
    """
    rule_set = candidate.content.rule_set
    if rule_set is None or terms.rules_check == OFF or not any(rules for _, rules, _ in rule_set.groups):
        return ()
    earlier = view.live_versions(candidate.subject)[-EARLIER:]
    findings = rule_findings(view, candidate.source, candidate.content, earlier, terms)
    is_new = not earlier or earlier[-1].content.rule_set != rule_set
    refusing = [finding for finding in findings if finding["severity"] == Severity.REFUSE]
    if refusing and is_new and terms.rules_check == REFUSE:
        raise errors.INVALID_RULE_SET(detail=_sentences(refusing)).with_extra(findings=list(findings))
    return (f"subject {candidate.subject}: {_sentences(findings)}",) if findings else ()


def rule_findings(
    view: View, source: Source, content: Content, earlier: Sequence[Version], terms: Terms
) -> tuple[dict[str, Any], ...]:
    """The findings about the rules of a content, as objects of the API.

    Args:
        view: The view that resolves references.
        source: The content's text with pinned references.
        content: The content.
        earlier: Versions that may have written the data, oldest first.
        terms: The server's terms.

    Raises:
        ApiError: 42209.
        Unanswered: The rules must be checked elsewhere first.
    """
    task = CheckRules(contract_bytes(content.rule_set, content.metadata), terms.rules_types)
    question = Question(source, task, earlier=tuple(earlier), moved=view.references_moved)
    try:
        return terms.ask(view, question, RulesChecked).findings
    except InvalidSchema:  # a text that is stored without a strict check
        return ()


def contract_bytes(rule_set: RuleSet | None, metadata: Metadata | None) -> bytes:
    """A rule set and metadata for a job."""
    value = {"ruleSet": rule_set and rule_set.to_json(), "metadata": metadata and metadata.to_json()}
    return orjson.dumps(value)


def _sentences(findings: Sequence[dict[str, Any]]) -> str:
    sentences = [_sentence(finding) for finding in findings[:_MOST_IN_TEXT]]
    more = len(findings) - len(sentences)
    return "; ".join([*sentences, f"and {more} more"] if more else sentences)


def _sentence(finding: dict[str, Any]) -> str:
    rule = f"rule '{finding['rule']}': " if "rule" in finding else ""
    line = f", line {finding['line']}, column {finding['column']}" if "line" in finding else ""
    return f"{rule}{finding['text']} ({finding['place']}{line}): {finding['remedy']}"
