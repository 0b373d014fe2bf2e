"""Verdicts on pairs of schemas are the same after anonymizing, for golden cases and random pairs of all types."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat.avro import AvroSchema
from compat.engine import Previous, check
from compat.formats import parse
from compat.level import LEVELS
from compat.protobuf import ProtobufSchema
from compat.schema import AVRO, JSON, PROTOBUF, InvalidSchema, ParsedSchema, Reference
from magicbyte.operations.anonymize.anonymize import anonymize
from magicbyte.operations.comparison.meaning import StateVersions, parse_version
from magicbyte.operations.state import State
from registry.state.model import Content, Version, kept_form
from registry.state.resolve import dependencies
from tests.compat.avro.evolutions import evolutions
from tests.compat.json_schema.drawing import DRAFTS, Drawing, parsed
from tests.compat.protobuf.generated import Schema, build, pairs
from tests.compat.witness_cases import cases

KEY = b"0123456789abcdef"


def _verdicts(one: ParsedSchema, other: ParsedSchema) -> list[tuple[bool, list[str]]]:
    """The verdict of each direction, and the rules that are not kept to."""
    found = []
    for new, old in ((one, other), (other, one)):
        verdict = check(new, [Previous(1, old)], LEVELS["BACKWARD"])
        found.append((verdict.compatible, sorted(finding.difference.rule.name for finding in verdict.findings)))
    return found


def _anonymous(schemas: Sequence[tuple[ParsedSchema, Sequence[tuple[str, str]]]]) -> list[ParsedSchema]:
    """Schemas with the texts that they refer to by name, registered, anonymized and parsed again."""
    versions: list[Version] = []
    numbers: dict[str, int] = {}

    def add(subject: str, content: Content) -> Version:
        numbers[subject] = numbers.get(subject, 0) + 1
        version = Version(subject, numbers[subject], len(versions) + 1, kept_form(content), deleted=False, timestamp=1)
        versions.append(version)
        return version

    checked = []
    for schema, referenced in schemas:
        references: tuple[Reference, ...] = ()
        for name, text in referenced:
            # Each text may need those before it.
            stored = add(name, Content(schema.schema_type, text, references))
            references = (*references, Reference(name, name, stored.number))
        checked.append(add("checked", Content(schema.schema_type, schema.source, references)))
    state = State(versions={(version.subject, version.number): version for version in versions})
    anonymous = anonymize(state, KEY)
    assert not [note for note in anonymous.notes if "does not parse" in note]
    by_order = dict(zip(state.versions, anonymous.state.versions.values(), strict=True))
    before, known = StateVersions(state), StateVersions(anonymous.state)
    found = []
    for version in checked:
        after = by_order[version.subject, version.number]
        if _is_strict(before, version):
            assert _is_strict(known, after), f"its names or defaults are not valid: {after.text}"
        found.append(parse_version(known, after))
    return found


def _is_strict(versions: StateVersions, version: Version) -> bool:
    schema = version.content.schema
    try:
        parse(schema, dependencies(versions, ".", schema), strict=True)
    except InvalidSchema:
        return False
    return True


def _check(one: ParsedSchema, other: ParsedSchema, *dependencies: Sequence[tuple[str, str]]) -> None:
    texts = dependencies or ((), ())
    pair = _anonymous(list(zip((one, other), texts, strict=True)))
    assert _verdicts(*pair) == _verdicts(one, other), "\n".join(schema.source for schema in (one, other, *pair))


@pytest.mark.parametrize("schema_type", [AVRO, JSON, PROTOBUF])
def test_every_golden_case(schema_type: str) -> None:
    count = 0
    for case in cases(schema_type):
        try:
            _check(case.writer, case.reader, *_dependencies(case.writer, case.reader))
            count += 1
        except AssertionError as error:
            raise AssertionError(case.name) from error
    assert count > 20


def _dependencies(*schemas: ParsedSchema) -> list[list[tuple[str, str]]]:
    return [
        [(one.name, one.text) for one in schema.dependencies] if isinstance(schema, ProtobufSchema) else []
        for schema in schemas
    ]


@given(evolutions())
@settings(max_examples=50)
def test_random_avro_schemas(pair: tuple[AvroSchema, AvroSchema]) -> None:
    _check(*pair)


@pytest.mark.parametrize("draft", DRAFTS)
@given(seed=st.integers(0, 2**64))
@settings(max_examples=10)
def test_random_json_schemas(draft: str, seed: int) -> None:
    one, other = (parsed(schema, draft) for schema in Drawing(draft, seed).pair())
    _check(one, other)


@given(pairs())
@settings(max_examples=25)
def test_random_protobuf_schemas(pair: tuple[Schema, Schema]) -> None:
    one, other = map(build, pair)
    _check(one, other, *_dependencies(one, other))
