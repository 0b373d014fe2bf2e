"""The fields that the registry reads from request bodies are those that the document names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import TypeAdapter

from registry.decide.configure import UPDATE_NAMES
from registry.http import models
from registry.http.bodies import sent_from, tagging_from
from registry.http.models.schemas import SchemaReference, SchemaTags


class RecordingBody(dict[str, Any]):
    """A body that records the names of the fields that are asked for."""

    def __init__(self, **fields: Any) -> None:
        super().__init__(fields)
        self.names: set[str] = set()

    def get(self, name: str, default: Any = None) -> Any:
        """The field's value, or the default."""
        self.names.add(name)
        return super().get(name, default)

    def __getitem__(self, name: str) -> Any:
        self.names.add(name)
        return super().__getitem__(name)


def documented(model: Any) -> set[str]:
    """The names of the fields in the model."""
    return set(TypeAdapter(model).json_schema(by_alias=True)["properties"])


@pytest.mark.parametrize(
    ("read", "model"),
    [
        # A body of content fields alone is not asked for others.
        (lambda body: sent_from(body, "s", None), models.RegisterSchemaRequest),
        (lambda body: tagging_from(body, "s", 1), models.TagSchemaRequest),
    ],
    ids=["schema", "tags"],
)
def test_a_body_is_asked_for_the_fields_of_its_model(read: Callable[[RecordingBody], object], model: Any) -> None:
    body = RecordingBody(version=1)
    read(body)
    assert body.names == documented(model)


def test_an_entity_of_tags_is_asked_for_the_fields_of_its_model() -> None:
    entity = RecordingBody(entityPath="r", entityType="sr_record")
    tagged = RecordingBody(schemaEntity=entity, tags=["PII"])
    tagging_from({"tagsToAdd": [tagged]}, "s", 1)
    assert tagged.names == documented(SchemaTags)
    assert entity.names == {"entityPath", "entityType"}


def test_a_reference_is_asked_for_the_fields_of_its_model() -> None:
    reference = RecordingBody(name="a", subject="s", version=1)
    sent_from({"references": [reference]}, "s", None)
    assert reference.names == documented(SchemaReference)


def test_a_config_is_changed_by_the_fields_of_its_model() -> None:
    assert set(UPDATE_NAMES.values()) == documented(models.ConfigUpdateRequest)
