"""The models of request bodies read them: members of another type are refused, and the error names their place."""

from __future__ import annotations

from typing import Annotated, Any, get_args

import pytest
from pydantic import Field, TypeAdapter, ValidationError

from magicbyte.kit.errors import ApiError
from magicbyte.security.rights.rule_json import FIELDS
from registry.decide.configure import UPDATE_NAMES
from registry.http import models
from registry.http.bodies import sent_from
from registry.http.body_reader import BodyReader
from registry.http.models.repair import Code
from registry.repair.plan import REPAIRS
from registry.state.model import Content

SCHEMA = BodyReader(models.RegisterSchemaRequest)
TAGS = BodyReader(models.TagSchemaRequest)
CONFIG = BodyReader(models.ConfigUpdateRequest)
MODE = BodyReader(models.ModeUpdateRequest)
REPAIR = BodyReader(models.RepairRequest)
RULE = {"name": "r", "kind": "CONDITION", "type": "CEL", "mode": "WRITE"}


def rule_with(**members: Any) -> dict[str, Any]:
    """A body whose second rule has other members."""
    return {"ruleSet": {"domainRules": [RULE, {**RULE, **members}]}}


@pytest.mark.parametrize(
    ("reader", "body", "text"),
    [
        (SCHEMA, [], "the body must be a JSON object, not an array"),
        (SCHEMA, "text", "the body must be a JSON object, not a string"),
        (SCHEMA, 1.5, "the body must be a JSON object, not a number"),
        (SCHEMA, {"schema": 7}, "schema must be a string, not an integer"),
        (SCHEMA, {"schema": {}}, "schema must be a string, not an object"),
        (SCHEMA, {"schemaType": []}, "schemaType must be a string, not an array"),
        (SCHEMA, {"references": {}}, "references must be an array, not an object"),
        (SCHEMA, {"references": [None]}, "references[0] must be an object, not null"),
        (SCHEMA, {"references": [{}, {"name": 1}]}, "references[1].name must be a string, not an integer"),
        (SCHEMA, {"references": [{"subject": True}]}, "references[0].subject must be a string, not a boolean"),
        (SCHEMA, {"references": [{"version": "1"}]}, "references[0].version must be an integer, not a string"),
        (SCHEMA, {"references": [{"version": 2**31}]}, "references[0].version is out of range: 2147483648"),
        (SCHEMA, {"version": True}, "version must be an integer, not a boolean"),
        (SCHEMA, {"version": 1.0}, "version must be an integer, not a number"),
        (SCHEMA, {"id": -(2**31) - 1}, "id is out of range: -2147483649"),
        (SCHEMA, {"id": 10**30}, f"id is out of range: {10**30}"),
        (SCHEMA, {"metadata": "m"}, "metadata must be an object, not a string"),
        (SCHEMA, {"metadata": {"tags": {"a.b": "PII"}}}, "metadata.tags.a.b must be an array, not a string"),
        (SCHEMA, {"metadata": {"tags": {"a": [1]}}}, "metadata.tags.a[0] must be a string, not an integer"),
        (SCHEMA, {"metadata": {"properties": {"p": None}}}, "metadata.properties.p must be a string, not null"),
        (SCHEMA, {"metadata": {"sensitive": "s"}}, "metadata.sensitive must be an array, not a string"),
        (SCHEMA, {"ruleSet": []}, "ruleSet must be an object, not an array"),
        (SCHEMA, {"ruleSet": {"migrationRules": {}}}, "ruleSet.migrationRules must be an array, not an object"),
        (SCHEMA, {"ruleSet": {"enableAt": 1}}, "ruleSet.enableAt must be a string, not an integer"),
        (SCHEMA, rule_with(disabled="no"), "ruleSet.domainRules[1].disabled must be a boolean, not a string"),
        (SCHEMA, rule_with(tags="PII"), "ruleSet.domainRules[1].tags must be an array, not a string"),
        (SCHEMA, rule_with(params={"a": 1}), "ruleSet.domainRules[1].params.a must be a string, not an integer"),
        (SCHEMA, rule_with(onFailure=[]), "ruleSet.domainRules[1].onFailure must be a string, not an array"),
        (SCHEMA, {"schemaTagsToAdd": [7]}, "schemaTagsToAdd[0] must be an object, not an integer"),
        (
            SCHEMA,
            {"schemaTagsToAdd": [{}, {"tags": [1]}]},
            "schemaTagsToAdd[1].tags[0] must be a string, not an integer",
        ),
        (SCHEMA, {"schemaTagsToRemove": {}}, "schemaTagsToRemove must be an array, not an object"),
        (SCHEMA, {"propagateSchemaTags": "yes"}, "propagateSchemaTags must be a boolean, not a string"),
        (TAGS, {"newVersion": "2"}, "newVersion must be an integer, not a string"),
        (TAGS, {"rulesToMerge": {"domainRules": [1]}}, "rulesToMerge.domainRules[0] must be an object, not an integer"),
        (TAGS, {"rulesToRemove": ["a", 1]}, "rulesToRemove[1] must be a string, not an integer"),
        (CONFIG, {"alias": 7}, "alias must be a string, not an integer"),
        (CONFIG, {"validateRules": 1}, "validateRules must be a boolean, not an integer"),
        (
            CONFIG,
            {"overrideRuleSet": {"encodingRules": {}}},
            "overrideRuleSet.encodingRules must be an array, not an object",
        ),
        (MODE, {"mode": ["READONLY"]}, "mode must be a string, not an array"),
        (REPAIR, {"codes": "MARK_LOW"}, "codes must be an array, not a string"),
        (
            REPAIR,
            {"codes": ["MARK_LOW", "mark_low"]},
            "codes[1] must be one of KEY_FORMS, ORPHAN_TOMBSTONE, MARK_LOW, DELETED_LIVE, UNREADABLE or FOREIGN_KEYS",
        ),
    ],
)
def test_a_member_of_another_type_is_refused(reader: BodyReader, body: Any, text: str) -> None:
    with pytest.raises(ApiError) as raised:
        reader.read_value(body)
    assert (raised.value.status, raised.value.message) == (400, text)


def test_an_error_of_another_kind_has_the_words_of_pydantic() -> None:
    with pytest.raises(ApiError) as raised:
        BodyReader(dict[str, Annotated[str, Field(min_length=1)]]).read_value({"a": "b", "c": ""})
    assert (raised.value.status, raised.value.message) == (400, "c: String should have at least 1 character")


@pytest.mark.parametrize(
    ("reader", "body"),
    [
        (SCHEMA, {"references": [1] * 300_000}),
        (SCHEMA, {"metadata": {"properties": dict.fromkeys(map(str, range(300_000)), 1)}}),
        (SCHEMA, {"metadata": {"tags": {str(at): [1] for at in range(300_000)}}}),
        (SCHEMA, {"ruleSet": {"domainRules": [{"params": 1}] * 300_000}}),
        (TAGS, {"tagsToAdd": [1] * 300_000}),
        (CONFIG, {"overrideMetadata": {"sensitive": [1] * 300_000}}),
        (REPAIR, {"codes": ["x"] * 300_000}),
    ],
    ids=["references", "properties", "tags", "rules", "tags to add", "sensitive", "codes"],
)
def test_a_body_of_many_faults_ends_with_the_first(reader: BodyReader, body: Any) -> None:
    with pytest.raises(ValidationError) as raised:
        reader._validator.validate_python(body, strict=True)
    assert raised.value.error_count() == 1


EMPTY_RULES: dict[str, Any] = dict.fromkeys(("migrationRules", "domainRules", "encodingRules", "enableAt"))


@pytest.mark.parametrize(
    "body",
    [
        {"schema": None, "schemaType": None, "references": None, "metadata": None, "ruleSet": None},
        {"metadata": {"tags": None, "properties": None, "sensitive": None}, "ruleSet": EMPTY_RULES},
        {"references": []},
        {"version": None, "id": None, "schemaTagsToAdd": None, "schemaTagsToRemove": None, "propagateSchemaTags": None},
        {"members": "of other programs are passed over"},
    ],
    ids=["content", "contract", "references", "others", "unknown"],
)
def test_null_is_read_as_an_absent_member(body: Any) -> None:
    sent = sent_from(SCHEMA.read_value(body), "s", None)
    assert (sent.version, sent.schema_id, sent.propagate_tags) == (0, -1, False)
    assert (sent.content.text, sent.content.schema_type, sent.content.references) == ("", "AVRO", ())
    assert not sent.tags_to_add
    for part in (sent.content.metadata, sent.content.rule_set):
        assert part is None or part.to_json() == {}


def test_a_reference_may_lack_members() -> None:
    sent = sent_from(SCHEMA.read_value({"references": [{}, {"name": None, "version": None}]}), "s", None)
    assert [(one.name, one.subject, one.version) for one in sent.content.references] == [("", "", 0), ("", "", 0)]


def test_a_rule_may_have_null_for_each_member() -> None:
    members = TypeAdapter(models.RegisterSchemaRequest).json_schema()["$defs"]["Rule"]["properties"]
    sent = sent_from(SCHEMA.read_value({"ruleSet": {"domainRules": [dict.fromkeys(members)]}}), "s", None)
    assert isinstance(sent.content, Content)
    assert sent.content.rule_set is not None
    assert sent.content.rule_set.domain_rules[0].to_json() == {"disabled": False}


def test_a_config_is_changed_by_the_members_of_its_model() -> None:
    assert set(UPDATE_NAMES.values()) == set(TypeAdapter(models.ConfigUpdateRequest).json_schema()["properties"])


def test_the_values_of_a_level_and_a_policy_are_left_to_their_own_errors() -> None:
    body = {"compatibility": 7, "compatibilityPolicy": []}
    assert CONFIG.read_value(body) == body


def test_the_codes_of_the_model_are_those_that_can_be_repaired() -> None:
    assert get_args(Code) == tuple(REPAIRS)


def test_the_members_of_a_rule_of_access_are_those_that_its_reader_takes() -> None:
    assert set(TypeAdapter(models.AccessRule).json_schema()["properties"]) == set(FIELDS)
