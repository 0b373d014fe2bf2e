"""Routes for the rules of schemas: check them, and tell in which order they are carried out."""

from __future__ import annotations

from functools import partial
from typing import Any

import orjson

from compat.contracts.explain import origins_of
from compat.contracts.findings import Finding, Severity
from compat.contracts.model import InvalidRuleSet, RuleSet
from compat.schema import InvalidSchema
from magicbyte.http.routing.request import Request
from magicbyte.http.routing.response import Json
from registry.decide import Sent, Terms
from registry.decide.question import Question, stored_source
from registry.decide.registration.candidate import candidate_of
from registry.decide.registration.check_rules import EARLIER, contract_bytes, rule_findings
from registry.decide.registration.complete import completed
from registry.decide.registration.stages import Completed
from registry.http import models
from registry.http.answers import answer
from registry.http.bodies import sent_from
from registry.http.parameters import RulesSubject
from registry.http.parameters.bodies import SchemaBody
from registry.http.request import context_of_request, registry_of, rights_of, subject_in_query
from registry.offload.jobs import PlanRules, RulesPlanned
from registry.offload.parsing import invalid_schema
from registry.service import Registry
from registry.state.model import SubjectName, Version
from registry.state.resolve import effective_config
from registry.state.view import View


async def check_rules(
    request: Request, *, body: SchemaBody, subject_text: RulesSubject = ""
) -> Json[models.RuleFindings]:
    """Extension: what is wrong, or probably not meant, with the rules in the body.

    With a subject, the schema also inherits what a registration would, and its latest versions count as earlier ones.
    """
    registry = registry_of(request)
    subject = subject_in_query(request, subject_text)
    around = subject or str(SubjectName(context_of_request(request), ""))
    sent = sent_from(body, around, rights_of(request))
    work = partial(_findings, registry.view, sent, is_of_subject=subject is not None)
    return answer(request, {"findings": await registry.compute(work)})


def _findings(view: View, sent: Sent, terms: Terms, *, is_of_subject: bool) -> list[dict[str, Any]]:
    config = effective_config(view, sent.subject, terms.default_level)
    complete = completed(view, sent, config) if is_of_subject else Completed.as_sent(sent, config)
    try:
        (complete.content.rule_set or RuleSet()).validate()
    except InvalidRuleSet as error:
        remedy = "correct the rule set; registrations with it are refused"
        return [Finding("rule-set", Severity.REFUSE, None, "ruleSet", str(error), remedy).to_json()]
    candidate = candidate_of(view, complete, terms, strict=True)
    earlier = view.live_versions(sent.subject)[-EARLIER:] if is_of_subject else ()
    return list(rule_findings(view, candidate.source, candidate.content, earlier, terms))


async def rules_plan(registry: Registry, version: Version) -> dict[str, Any]:
    """The effective plan of a version's rules, as an object of the API.

    Raises:
        ApiError: 42201 if the text is not a schema, or 42209 if the rules take too long.
    """
    content, view = version.content, registry.view
    config = effective_config(view, version.subject, registry.terms.default_level)
    origins = origins_of(content.rule_set, default=config.default_rule_set, override=config.override_rule_set)
    task = PlanRules(contract_bytes(content.rule_set, content.metadata), tuple(origins.items()))
    question = Question(stored_source(view, version), task)
    try:
        plan = (await registry.ask(question, RulesPlanned)).plan
    except InvalidSchema as error:
        raise invalid_schema(error) from None
    named = {"subject": version.subject, "version": version.number, "id": version.schema_id}
    return {**named, **orjson.loads(plan)}
