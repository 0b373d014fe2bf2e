"""Decisions that need long work: they ask, are answered beside the committer, and hold only if nothing has moved."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from compat.budget import Budget
from compat.schema import Reference
from magicbyte.kit.errors import ApiError
from registry.answering import Answering, WorkLeft
from registry.cluster.node import SharedLogNode
from registry.decide import (
    Sent,
    Terms,
    Unanswered,
    decide_delete_subject,
    decide_load,
    decide_put_config,
    decide_register,
)
from registry.decide.question import LITTLE_WORK, Question
from registry.log.port import LogEntry, Record
from registry.offload.jobs import Canonicalize, Compared, FindSame, Judge
from registry.offload.perform import perform
from registry.state.model import Content, Version
from registry.state.view import View

#: Fields enough that reading the schema is no little work.
MANY = 400


def record(name: str, *, fields: int = MANY, last: str = "int") -> str:
    """A record with int fields, and a last field of another type if one is given."""
    listed = [{"name": f"a_field_of_a_long_record_{at}", "type": "int"} for at in range(fields)]
    listed[-1]["type"] = last
    return json.dumps({"type": "record", "name": name, "fields": listed}, separators=(",", ":"))


class Registry:
    """A view, and decisions on it whose records are applied."""

    def __init__(self) -> None:
        self.view = View()
        self.terms = Terms()
        self.asked: list[str] = []

    def apply(self, records: tuple[Record, ...]) -> None:
        for written in records:
            self.view.apply(LogEntry(self.view.offset + 1, written.key, written.value, written.timestamp))

    def answer(self, terms: Terms, missing: Unanswered) -> Terms:
        for question in missing.questions:
            self.asked.append(type(question.task).__name__)
            answer = perform(question.job(missing.view or self.view), self.terms.parse, Budget())
            terms = replace(terms, answered=(*terms.answered, (question, answer)))
        return terms

    def answers_for(self, request: Sent) -> Terms:
        """The terms with all answers that a registration needs now."""
        terms = self.terms
        while True:
            try:
                decide_register(self.view, 0, sent=request, terms=terms)
            except Unanswered as missing:
                terms = self.answer(terms, missing)
            except ApiError:
                return terms
            else:
                return terms

    def register(self, subject: str, text: str, **fields: Any) -> Version:
        request = registration(subject, text, **fields)
        decision = decide_register(self.view, 0, sent=request, terms=self.answers_for(request))
        self.apply(decision.records)
        return decision.result


def registration(subject: str, text: str, *, references: tuple[Reference, ...] = (), **fields: Any) -> Sent:
    return Sent(subject, Content("AVRO", text, references), **fields)


def questions(registry: Registry, request: Sent, terms: Terms) -> list[type]:
    """The kinds of questions that a registration asks first."""
    with pytest.raises(Unanswered) as missing:
        decide_register(registry.view, 0, sent=request, terms=terms)
    return [type(question.task) for question in missing.value.questions]


def test_a_short_schema_asks_nothing():
    registry = Registry()
    registry.register("s", record("R", fields=5))
    registry.register("s", record("R", fields=5, last="long"))
    assert registry.asked == []


def test_a_long_schema_is_read_and_judged_beforehand():
    registry = Registry()
    first = registration("s", record("R"))
    assert questions(registry, first, registry.terms) == [Canonicalize]
    assert registry.register("s", record("R")).number == 1
    assert registry.register("s", record("R", last="long")).number == 2
    assert registry.asked == ["Canonicalize", "Canonicalize", "Judge"]


def test_a_verdict_holds_only_as_long_as_the_versions_are_the_same():
    registry = Registry()
    registry.register("s", record("R"))
    request = registration("s", record("R", last="long"))
    terms = registry.answers_for(request)
    decide_register(registry.view, 0, sent=request, terms=terms)
    registry.register("other", record("R"))
    decide_register(registry.view, 0, sent=request, terms=terms)
    registry.register("s", record("R", last="double"), force=True)
    # A double is not read as a long.
    assert questions(registry, request, terms) == [Judge]
    with pytest.raises(ApiError, match="incompatible with an earlier schema"):
        decide_register(registry.view, 0, sent=request, terms=registry.answers_for(request))


def test_a_verdict_holds_only_as_long_as_the_config_is_the_same():
    registry = Registry()
    registry.register("s", record("R"))
    request = registration("s", record("R", last="long"))
    terms = registry.answers_for(request)
    update = {"compatibility": "FORWARD"}
    registry.apply(decide_put_config(registry.view, 0, subject="s", update=update).records)
    assert questions(registry, request, terms) == [Judge]
    registry.apply(decide_put_config(registry.view, 0, subject="s", update={"compatibility": "NONE"}).records)
    decide_register(registry.view, 0, sent=request, terms=terms)


def test_a_verdict_holds_only_as_long_as_references_mean_the_same():
    registry = Registry()
    base = (Reference("Base", "base", 1),)
    using = '{"type":"record","name":"User","doc":"%s","fields":[{"name":"base","type":"Base"}]}'
    registry.register("base", record("Base"))
    registry.register("user", using % 1, references=base)
    request = registration("user", using % 2, references=base)
    terms = registry.answers_for(request)
    decide_register(registry.view, 0, sent=request, terms=terms)
    registry.register("base", record("Base", last="string"), force=True)
    decide_register(registry.view, 0, sent=request, terms=terms)
    # Deleted for good and made again with another content, the same reference means something else.
    for subject in ("user", "base"):
        for permanent in (False, True):
            deleted = decide_delete_subject(registry.view, 0, subject=subject, permanent=permanent)
            registry.apply(deleted.records)
    registry.register("base", record("Base", last="string"))
    assert questions(registry, request, terms) == [Canonicalize]


def test_the_view_counts_changes_of_referenced_versions():
    registry = Registry()
    registry.register("base", record("Base", fields=1))
    assert registry.view.references_moved == 0
    registry.register("user", '{"type":"array","items":"Base"}', references=(Reference("Base", "base", 1),))
    registry.register("base", record("Base", fields=1, last="long"))
    assert registry.view.references_moved == 0
    registry.apply(decide_delete_subject(registry.view, 0, subject="user", permanent=False).records)
    registry.apply(decide_delete_subject(registry.view, 0, subject="base", permanent=False).records)
    assert registry.view.references_moved == 1
    assert View(registry.view).references_moved == 1


def test_explanations_are_never_made_where_the_decision_is():
    registry = Registry()
    registry.register("s", record("R", fields=3))
    request = registration("s", record("R", fields=3, last="string"), explain=True)
    assert questions(registry, request, registry.terms) == [Judge]
    terms = registry.answers_for(request)
    assert registry.asked == ["Judge"]
    with pytest.raises(ApiError) as refused:
        decide_register(registry.view, 0, sent=request, terms=terms)
    (explained,) = refused.value.extra["explanations"]  # type: ignore[misc]
    assert explained["rule"] == "TYPE_MISMATCH"


def tangle(last: str) -> str:
    definitions: dict[str, Any] = {"d12": {"type": last}}
    for at in range(12):
        inner = {"$ref": f"#/definitions/d{at + 1}"}
        definitions[f"d{at}"] = {"oneOf": [inner, {"properties": {"x": inner}}, {"allOf": [inner, {"title": "t"}]}]}
    return json.dumps({"$ref": "#/definitions/d0", "definitions": definitions}, separators=(",", ":"))


def test_a_short_schema_that_takes_long_to_judge_is_judged_elsewhere():
    registry = Registry()
    first = Sent("s", Content("JSON", tangle("string")))
    decision = decide_register(registry.view, 0, sent=first, terms=registry.terms)
    registry.apply(decision.records)
    second = Sent("s", Content("JSON", tangle("integer")))
    started = time.process_time()
    assert questions(registry, second, registry.terms) == [Judge]
    # A step is about a microsecond.
    assert time.process_time() - started < 50 * LITTLE_WORK / 1e6


def test_a_subject_with_many_versions_is_judged_elsewhere():
    registry = Registry()
    registry.apply(
        decide_put_config(registry.view, 0, subject="s", update={"compatibility": "FULL_TRANSITIVE"}).records
    )
    for at in range(150):
        text = record("R", fields=5).replace("a_field_of", f"f{at}")
        registry.register("s", text, force=True)
    assert registry.asked == []
    assert questions(registry, registration("s", record("R", fields=5)), registry.terms) == [Judge]


def test_the_lines_of_an_import_ask_all_their_questions_at_once():
    registry = Registry()
    lines = [
        (number, {"subject": f"s{number}", "version": 1, "id": number, "schema": record(f"R{number}")})
        for number in range(1, 4)
    ]
    with pytest.raises(Unanswered) as missing:
        decide_load(registry.view, 0, lines=lines, terms=registry.terms)
    assert [type(question.task) for question in missing.value.questions] == [Canonicalize] * 3
    terms = registry.answer(registry.terms, missing.value)
    assert decide_load(registry.view, 0, lines=lines, terms=terms).result.taken == {"schema": 3}


def test_answers_for_lines_that_refer_to_each_other_stay_valid():
    registry = Registry()
    using = '{"type":"record","name":"User","doc":"%s","fields":[{"name":"base","type":"R1"}]}' % ("x" * 20_000)
    references = [{"name": "R1", "subject": "s1", "version": 1}]
    lines = [
        (1, {"subject": "s1", "version": 1, "id": 1, "schema": record("R1")}),
        (2, {"subject": "s2", "version": 1, "id": 2, "schema": using, "references": references}),
    ]
    terms = registry.terms
    for now in range(2):
        with pytest.raises(Unanswered) as missing:
            decide_load(registry.view, now, lines=lines, terms=terms)
        terms = registry.answer(terms, missing.value)
    assert decide_load(registry.view, 2, lines=lines, terms=terms).result.taken == {"schema": 2}


@pytest.mark.parametrize(
    ("version", "compared"),
    [
        (0, [300]),
        # The latest version only; it is compared with the schema as sent, and then as completed.
        (-1, [1, 1]),
    ],
)
def test_comparing_an_inlined_schema_with_many_versions_takes_one_question(version: int, compared: list[int]) -> None:
    registry = Registry()
    registry.register("base", '{"type":"fixed","name":"B","size":1}')
    references = (Reference("B", "base", 1),)
    for number in range(300):
        text = f'{{"type":"record","name":"R","fields":[{{"name":"f","type":"B"}}],"doc":"{number}"}}'
        registry.register("s", text, references=references, force=True)
    asked: list[Question] = []
    answered = Question.little_job

    def noting(question: Question, view: View, most_steps: int) -> Any:
        asked.append(question)
        return answered(question, view, most_steps)

    spelled_out = '{"type":"record","name":"R","fields":[{"name":"f","type":{"type":"fixed","name":"B","size":1}}]%s}'
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Question, "little_job", noting)
        with suppress(Unanswered, ApiError):
            sent = registration("s", spelled_out % ',"doc":"new"', version=version)
            decide_register(registry.view, 0, sent=sent, terms=Terms())
    assert [len(question.earlier) for question in asked if isinstance(question.task, FindSame)] == compared


def test_all_comparisons_of_a_request_share_one_bound():
    registry = Registry()
    registry.register("s", record("R"))
    terms = registry.answers_for(registration("s", record("R", last="string")))
    (judged,) = [question for question, _ in terms.answered if isinstance(question.task, Judge)]
    left = WorkLeft(steps=1_000_000, seconds=60.0)

    async def ask() -> list[Any]:
        answering = Answering()
        try:
            answered = [await answering.answer(registry.view, [judged], left, "User:a")]
            one = 1_000_000 - left.steps
            assert one > 1000
            left.steps = 2 * one - 1
            answered += [await answering.answer(registry.view, [judged], left, "User:a") for _ in range(2)]
            return [answer for ((_, answer),) in answered]
        finally:
            await answering.close()

    first, second, third = asyncio.run(ask())
    assert isinstance(first, Compared)
    assert second == first
    assert isinstance(third, ApiError)
    assert third.code == 42209
    assert left.steps == 0
    assert left.seconds < 60


def test_a_long_schema_goes_to_the_committer_twice(api: Any, monkeypatch: pytest.MonkeyPatch):
    submitted: list[Any] = []
    submit = SharedLogNode.submit

    def counting(node: SharedLogNode, command: Any, client: str = "") -> Any:
        submitted.append(command)
        return submit(node, command, client)

    monkeypatch.setattr(SharedLogNode, "submit", counting)
    assert api.register("s", record("R")).status_code == 200
    assert len(submitted) == 2
    # How it is read and whether it is compatible are asked one after the other.
    assert api.register("s", record("R", last="string")).status_code == 409
    assert len(submitted) == 4
