"""Properties of walks over random schemas and messages."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compat.avro.nodes import Union
from compat.avro.schema import parse as parse_avro
from compat.contracts.walk.avro_branches import chooser
from compat.contracts.walk.leaf import Leaf, Visit
from compat.schema import AVRO, JSON, InvalidSchema, SchemaText
from serdes.codec.forms.branch import data_chooser
from serdes.codec.schema import parse as parse_codec
from tests.compat.contracts.walking import differences, visited, walk_over
from tests.compat.json_schema.drawing import DRAFTS, Drawing
from tests.serdes.codec.test_codec_differential import Drawn, fuzz

ROUNDS = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
TAGS = ("A", "B")


class Other:
    """A value that no message has."""

    def __repr__(self) -> str:
        return "other"


OTHER = Other()


def with_tags(schema: Any, flag: Any) -> Any:
    """The schema with random tags on its fields."""
    if isinstance(schema, list):
        return [with_tags(item, flag) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: with_tags(value, flag) for key, value in schema.items() if key != "default"}
    made |= {"default": schema["default"]} if "default" in schema else {}
    for field in made.get("fields", ()) if made.get("type") == "record" else ():
        field["confluent:tags"] = [tag for tag in TAGS if flag()]
    return made


def check_walk(walk: Any, message: Any) -> None:
    """A walk changes what it was told to change and nothing else, and never the message."""
    before = copy.deepcopy(message)
    seen = visited(walk, message)
    assert repr(message) == repr(before)
    for tag in TAGS:
        told: list[str] = []

        def select(leaf: Leaf, tag: str = tag, told: list[str] = told) -> Visit | None:
            def visit(_: Any, __: Any) -> Any:
                told.append(leaf.full_name)
                return OTHER

            return visit if tag in leaf.tags else None

        compiled = walk.compile(select)
        after = message if compiled is None else compiled(message)
        assert repr(message) == repr(before)
        changed = differences(message, after)
        # A field that a record lacks has its default, which is a value of the copy alone.
        assert [new for _, _, new in changed if new is not OTHER and "other" not in repr(new)] == []
        assert len(told) == repr(after).count("other") - repr(message).count("other")
        assert (after is message) is not told
        assert len(told) <= len(seen)


@ROUNDS
@given(st.data())
def test_walks_over_avro_change_the_selected_leaves_alone(data: st.DataObject) -> None:
    maker = fuzz.Maker(Drawn(data))
    schema = with_tags(maker.schema(), maker.flag)
    check_walk(walk_over(schema), maker.datum(schema))


@pytest.mark.parametrize("seed", range(60))
def test_walks_over_json_change_the_selected_leaves_alone(seed: int) -> None:
    generator = random.Random(seed)
    drawing = Drawing(generator.choice(list(DRAFTS)), seed)
    schema = tagged_json(drawing.schema(4), generator)
    schema = {"$schema": DRAFTS[drawing.draft][0], "definitions": {"node": drawing.schema(2)}, **schema}
    try:
        walk = walk_over(schema, JSON)
    except InvalidSchema:
        return
    for _ in range(20):
        check_walk(walk, random_json(generator, 4))


def tagged_json(schema: Any, generator: random.Random) -> Any:
    if isinstance(schema, list):
        return [tagged_json(item, generator) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: tagged_json(value, generator) for key, value in schema.items()}
    for member in made["properties"].values() if isinstance(made.get("properties"), dict) else ():
        if isinstance(member, dict):
            member["confluent:tags"] = [tag for tag in TAGS if generator.random() < 0.4]
    return made


def random_json(generator: random.Random, depth: int) -> Any:
    kind = generator.randrange(4 if depth else 2)
    if kind == 2:
        return [random_json(generator, depth - 1) for _ in range(generator.randrange(3))]
    if kind == 3:
        return {name: random_json(generator, depth - 1) for name in "abc" if generator.random() < 0.7}
    return generator.choice([None, True, 0, 1, 1.5, "", "x", "xx"])


@ROUNDS
@given(st.data())
def test_the_walk_chooses_the_union_branch_that_the_encoder_chooses(data: st.DataObject) -> None:
    maker = fuzz.Maker(Drawn(data))
    schema = maker._union(2)
    text = json.dumps(schema)
    union = parse_avro(SchemaText(AVRO, text), (), strict=False).root
    assert isinstance(union, Union)
    datum = maker.datum(schema)
    if isinstance(datum, tuple) or datum is None:
        return
    assert chooser(union)(datum) == data_chooser(parse_codec(text))(datum)[0]
