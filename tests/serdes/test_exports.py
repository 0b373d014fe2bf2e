from __future__ import annotations

import confluent_kafka.schema_registry as theirs
import pytest

import serdes
from serdes.contracts import Metadata, MetadataProperties, MetadataTags, Rule, RuleKind, RuleParams, RuleSet

#: What of confluent-kafka's names is not here: associations are looked up, not written.
MISSING = {
    "Association",
    "AssociationCreateOrUpdateInfo",
    "AssociationCreateOrUpdateRequest",
    "AssociationInfo",
    "AssociationResponse",
}


@pytest.mark.parametrize("name", serdes.__all__)
def test_the_package_exports_every_listed_name(name: str):
    assert getattr(serdes, name) is not None


def test_an_unknown_name_raises_attribute_error():
    with pytest.raises(AttributeError):
        serdes.Nope  # noqa: B018  # asking is the test


def test_confluents_names_are_all_here():
    assert set(theirs.__all__) - set(serdes.__all__) == MISSING


def test_contracts_as_json_and_back():
    metadata = Metadata(MetadataTags({"a": ["PII"]}), MetadataProperties({"team": "blue"}), ["team"])
    json = {"tags": {"a": ["PII"]}, "properties": {"team": "blue"}, "sensitive": ["team"]}
    assert metadata.to_dict() == json
    assert Metadata.from_dict(json) == metadata
    rules = RuleSet(domain_rules=[Rule("r", kind=RuleKind.TRANSFORM, params=RuleParams({"x": "y"}), on_success="NONE")])
    json = {"domainRules": [{"name": "r", "kind": "TRANSFORM", "params": {"x": "y"}, "onSuccess": "NONE"}]}
    assert rules.to_dict() == json
    assert RuleSet.from_dict(json) == rules
