from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from compat.schema import SchemaText
from registry.app import create_app
from registry.settings import RegistrySettings
from serdes.client.clients import RegistryClient
from serdes.rules.registry import RuleRegistry
from tests.serdes.conftest import Asked

PERSON = json.dumps(
    {
        "type": "record",
        "name": "Person",
        "namespace": "acme",
        "fields": [
            {"name": "name", "type": "string", "confluent:tags": ["PII"]},
            {"name": "age", "type": "int"},
            {"name": "mail", "type": ["null", "string"], "default": None, "confluent:tags": ["PII", "MAIL"]},
            {"name": "raw", "type": "bytes", "default": "", "confluent:tags": ["SECRET"]},
            {"name": "tags", "type": {"type": "array", "items": "string"}, "default": [], "confluent:tags": ["LIST"]},
            {"name": "props", "type": {"type": "map", "values": "string"}, "default": {}, "confluent:tags": ["MAP"]},
        ],
    }
)
ADA: dict[str, Any] = {
    "name": "ada",
    "age": 36,
    "mail": "ada@acme.com",
    "raw": b"\0\xff",
    "tags": ["x", "y"],
    "props": {"k": "v"},
}

Register = Callable[..., Any]


@pytest.fixture
def app() -> Asked:
    """A registry that takes any rule set: what it would refuse may come from another registry."""
    settings = {"magicbyte.storage": "memory:", "magicbyte.rules.check": "off"}
    return Asked(create_app(RegistrySettings.from_properties(settings)))


@pytest.fixture
def register(client: RegistryClient) -> Register:
    """Registers a schema with domain rules, or with a whole rule set."""

    def registered(
        *rules: dict[str, Any],
        schema: str = PERSON,
        schema_type: str = "AVRO",
        subject: str = "people-value",
        metadata: dict[str, Any] | None = None,
        **rule_set: Any,
    ) -> Any:
        named = [{"name": f"rule{index}", **rule} for index, rule in enumerate(rules)]
        contract = {**({"domainRules": named} if named else {}), **rule_set}
        text = SchemaText(schema_type, schema)
        return client.register(subject, text, metadata=metadata, rule_set=contract or None)

    return registered


@pytest.fixture(autouse=True)
def _global_registry() -> Any:
    """Each test finds the global registry of rules empty, and leaves it so."""
    RuleRegistry.get_global_instance().clear()
    yield
    RuleRegistry.get_global_instance().clear()
