"""Tags in schema texts: finding, adding and removing them, by schema type."""

from __future__ import annotations

from registry.tags.entity import FIELD, RECORD, SchemaEntity, Tags, UnknownEntity
from registry.tags.formats import TAG_FORMATS, TagFormat

__all__ = ["FIELD", "RECORD", "TAG_FORMATS", "SchemaEntity", "TagFormat", "Tags", "UnknownEntity"]
