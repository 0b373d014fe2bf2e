"""Doing jobs: pure functions, called directly or in a worker process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import orjson

from compat.budget import Budget
from compat.contracts.model import Metadata, RuleSet
from compat.engine import Previous, check
from compat.formats import FORMATS, make_outline
from compat.level import LEVELS
from compat.matrix import compare_with_every
from compat.outline.compare import Side, compare
from compat.outline_tree import Limits
from compat.report.messages import reserved_field_messages
from compat.schema import JSON, PROTOBUF, InvalidSchema, ParsedSchema, SchemaText
from registry.offload.jobs import (
    OUTLINING_SECONDS,
    Answer,
    Canonical,
    Canonicalize,
    CheckRules,
    Compared,
    CompareOutlines,
    Earlier,
    EditTags,
    FindSame,
    FindTags,
    Job,
    Judge,
    Listing,
    MakeOutline,
    Names,
    NamesFound,
    OutlineMade,
    OutlinesCompared,
    PlanRules,
    Render,
    Rendered,
    RulesChecked,
    RulesPlanned,
    SameFound,
    TagsFound,
    Task,
    Text,
    VersionVerdict,
)
from registry.offload.parsing import Parser
from registry.tags import FIELD, TAG_FORMATS

if TYPE_CHECKING:
    from compat.contracts.findings import Contract
    from compat.contracts.findings.contract import SchemaVersion


def perform(job: Job, parse: Parser, budget: Budget) -> Answer:
    """Do a job.

    Args:
        job: The job.
        parse: The parser.
        budget: The budget for comparing, explaining, and reading earlier versions.

    Raises:
        InvalidSchema: A text is not a schema of its type, or the type does not exist.
        UnknownEntity: A tag is for an entity that the schema does not have.
        TooMuchWork: The job exceeds the budget.
    """
    return _TASKS[type(job.task)](job, job.task, parse, budget)


def _parsed(parse: Parser, text: Text, *, strict: bool = False) -> ParsedSchema:
    return parse(text.schema, text.dependencies, strict=strict)


def _canonicalize(job: Job, task: Canonicalize, parse: Parser, _budget: Budget) -> Canonical:
    schema = _parsed(parse, job.text, strict=task.strict)
    fault = ""
    check_type = _FIELD_CHECKS.get(schema.schema_type) if task.check_fields else None
    if check_type is not None:
        try:
            check_type(schema)
        except InvalidSchema as error:
            fault = error.detail
    text = schema.normalized() if task.normalize else schema.canonical
    older_text = FORMATS[schema.schema_type].older_text
    return Canonical(text, fault, (older_text(schema, task.normalize) or "") if older_text is not None else "")


def _check_json_fields(schema: ParsedSchema) -> None:
    from compat.json_schema import JsonSchema, check_fields  # noqa: PLC0415  loaded by then, since a schema is parsed

    assert isinstance(schema, JsonSchema)
    check_fields(schema)


def _check_protobuf_fields(schema: ParsedSchema) -> None:
    from compat.protobuf import ProtobufSchema, check_fields  # noqa: PLC0415  as above

    assert isinstance(schema, ProtobufSchema)
    check_fields(schema)


#: The checks of `validateFields` that need no other schema.
_FIELD_CHECKS: Mapping[str, Callable[[ParsedSchema], None]] = {
    JSON: _check_json_fields,
    PROTOBUF: _check_protobuf_fields,
}


def _judge(job: Job, task: Judge, parse: Parser, budget: Budget) -> Compared:
    new = _parsed(parse, job.text)
    budget.start_clock()
    previous = [_previous(version, new.schema_type, parse) for version in job.earlier]
    reserved_messages = reserved_field_messages(new, *task.reserved) if task.validate_fields else ()
    if task.every:
        return _judge_every(job, task, new, previous, reserved_messages, budget)
    verdict = check(
        new,
        previous,
        LEVELS[task.level],
        task.policy,
        validate_fields=task.validate_fields,
        reserved_messages=reserved_messages,
        budget=budget,
    )
    if verdict.compatible and job.is_cut:
        # The schema may be incompatible with an older version, and there is no budget to read those.
        budget.spend(budget.steps)
    explanations = verdict.explained(budget) if task.explain else ()
    return Compared(verdict.messages, tuple([explanation.to_json() for explanation in explanations]))


def _judge_every(
    job: Job,
    task: Judge,
    new: ParsedSchema,
    previous: Sequence[Previous],
    reserved_messages: Sequence[str],
    budget: Budget,
) -> Compared:
    matrix = compare_with_every(new, previous, task.policy, budget)
    if job.is_cut:
        matrix = replace(matrix, is_cut=True)
    level = LEVELS[task.level]
    verdict = matrix.verdict(level, validate_fields=task.validate_fields, reserved_messages=reserved_messages)
    explanations, lacks_some = matrix.explained(budget, level) if task.explain else ((), False)
    return Compared(
        verdict.messages,
        tuple([explanation.to_json() for explanation in explanations]),
        versions=tuple(VersionVerdict(row.previous.version or 0, row.backward, row.forward) for row in matrix.rows),
        is_cut=matrix.is_cut or lacks_some,
    )


def _previous(version: Earlier, schema_type: str, parse: Parser) -> Previous:
    if version.text is None:
        return Previous(version.number, partial(_refuse, schema_type, version.problem))
    return Previous(version.number, partial(_parsed, parse, version.text), version.text.steps)


def _refuse(schema_type: str, problem: str) -> ParsedSchema:
    raise InvalidSchema(schema_type, problem)


def _edit_tags(job: Job, task: EditTags, parse: Parser, _budget: Budget) -> Rendered:
    schema = _parsed(parse, job.text)
    tags = TAG_FORMATS[schema.schema_type]
    text = tags.edit(schema, dict(task.add), dict(task.remove)) if task.add or task.remove else schema.canonical
    if job.latest is None:
        return Rendered(text)
    before = tags.find(_parsed(parse, job.latest))
    sent = job.text.schema
    edited = parse(SchemaText(sent.schema_type, text, sent.references), job.text.dependencies, strict=False)
    remaining = frozenset(tags.entities(edited))
    return Rendered(tags.edit(edited, {entity: before[entity] for entity in before if entity in remaining}, {}))


def _render(job: Job, task: Render, parse: Parser, _budget: Budget) -> Rendered:
    return Rendered(_parsed(parse, job.text).rendered(task.form))


def _find_tags(job: Job, task: FindTags, parse: Parser, _budget: Budget) -> TagsFound:
    schema = _parsed(parse, job.text)
    tagged = [
        {"schemaEntity": {"entityPath": entity.path, "entityType": entity.kind}, "tags": matching}
        for entity, tags in sorted(TAG_FORMATS[schema.schema_type].find(schema).items())
        if (matching := [tag for tag in tags if "*" in task.names or tag in task.names])
    ]
    return TagsFound(orjson.dumps(tagged) if tagged else b"")


def _find_same(job: Job, task: FindSame, parse: Parser, budget: Budget) -> SameFound:
    schema = _parsed(parse, job.text)
    is_same = FORMATS[schema.schema_type].is_same
    assert is_same is not None
    budget.start_clock()
    for version in reversed(job.earlier):
        if version.text is None:
            continue
        budget.spend(version.text.steps)
        try:
            stored = _parsed(parse, version.text)
        except InvalidSchema:  # an old topic may hold a text that no longer parses
            continue
        if is_same(schema, stored, task.normalized):
            return SameFound(version.number)
    if job.is_cut:
        budget.spend(budget.steps)
    return SameFound(None)


def _make_outline(job: Job, _task: MakeOutline, parse: Parser, budget: Budget) -> OutlineMade:
    schema = _parsed(parse, job.text)
    own = Budget(budget.steps_left, seconds=OUTLINING_SECONDS)
    limits = Limits(budget=own)
    outline = make_outline(schema, job.text.schema.references, limits)
    budget.take(own)
    return OutlineMade(outline.nodes, outline.is_cut, orjson.dumps(outline.tree_json()))


def _compare_outlines(job: Job, task: CompareOutlines, parse: Parser, budget: Budget) -> OutlinesCompared:
    (earlier,) = job.earlier
    new = _side(parse, job.text, task.number)
    if earlier.text is None:
        raise InvalidSchema(new.schema.schema_type, f"version {earlier.number}: {earlier.problem}")
    old = _side(parse, earlier.text, earlier.number)
    budget.start_clock()
    budget.spend(earlier.text.steps)
    value = compare(old, new, task.policy, budget).to_json(budget, searches=task.searches)
    changes = value.pop("changes")
    return OutlinesCompared(value, orjson.dumps(changes))


def _side(parse: Parser, text: Text, number: int | None) -> Side:
    try:
        return Side(_parsed(parse, text), text.schema.references, number)
    except InvalidSchema as error:
        if number is None:
            raise
        raise InvalidSchema(error.schema_type, f"version {number}: {error.detail}") from None


def _check_rules(job: Job, task: CheckRules, _parse: Parser, budget: Budget) -> RulesChecked:
    from compat.contracts.findings import check_rules  # noqa: PLC0415  few requests bring rules

    earlier = tuple(_schema_version(version.text) for version in job.earlier if version.text is not None)
    budget.start_clock()
    contract = _contract(job, task.contract, earlier, task.extra_types, budget)
    return RulesChecked(tuple(finding.to_json() for finding in check_rules(contract)))


def _plan_rules(job: Job, task: PlanRules, _parse: Parser, budget: Budget) -> RulesPlanned:
    from compat.contracts.explain import explain_rules  # noqa: PLC0415  as above

    budget.start_clock()
    plan = explain_rules(_contract(job, task.contract, (), frozenset(), budget), dict(task.origins))
    return RulesPlanned(orjson.dumps(plan))


def _contract(
    job: Job, raw: bytes, earlier: tuple[SchemaVersion, ...], extra_types: frozenset[str], budget: Budget
) -> Contract:
    from compat.contracts.findings import Contract  # noqa: PLC0415  as above

    value = orjson.loads(raw)
    rule_set = RuleSet.from_json(value.get("ruleSet")) or RuleSet()
    previous = earlier[-1] if earlier else None
    metadata = Metadata.from_json(value.get("metadata"))
    return Contract(
        _schema_version(job.text),
        rule_set,
        metadata,
        previous,
        earlier,
        extra_types,
        # An expression takes the compiler about as long as reading some thousand characters.
        lambda characters: budget.spend(_STEPS_AN_EXPRESSION + characters),
    )


def _schema_version(text: Text) -> SchemaVersion:
    from compat.contracts.findings.contract import SchemaVersion  # noqa: PLC0415  as above

    return SchemaVersion(text.schema, text.dependencies)


#: The steps of compiling an expression, besides those for its characters.
_STEPS_AN_EXPRESSION = 3_000

_TASKS: Mapping[type[Task], Callable[[Job, Any, Parser, Budget], Answer]] = {
    Canonicalize: _canonicalize,
    Judge: _judge,
    EditTags: _edit_tags,
    Render: _render,
    FindTags: _find_tags,
    FindSame: _find_same,
    MakeOutline: _make_outline,
    CompareOutlines: _compare_outlines,
    CheckRules: _check_rules,
    PlanRules: _plan_rules,
}


def find_names(job: Listing) -> NamesFound:
    """The names in each text of a listing."""
    return NamesFound(tuple(map(_names_of, job.schemas)))


def _names_of(schema: SchemaText) -> Names:
    tags = TAG_FORMATS.get(schema.schema_type)
    if tags is None:
        return Names()
    try:
        listing = tags.listing(schema.text)
    except (ValueError, RecursionError):  # an old topic may hold a text that no longer parses
        return Names()
    paths = tuple([entity.path for entity, _ in listing.entities if entity.kind == FIELD])
    fields = paths if any("\n" in path for path in paths) else "\n".join(paths)
    return Names(listing.full_name, fields, tuple([(entity.path, tags) for entity, tags in listing.entities if tags]))
