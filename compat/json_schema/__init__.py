"""JSON Schema: drafts 4, 6, 7, 2019-09 and 2020-12."""

from __future__ import annotations

from compat.difference import SchemaFormat
from compat.json_schema.fixes import fixes
from compat.json_schema.outline import outline
from compat.json_schema.rules.table import RULES
from compat.json_schema.schema import JsonSchema, check_fields, edited, older_text, parse
from compat.json_schema.validate.validators import validator
from compat.json_schema.walk.differing import JsonDifference, differences, locate, message
from compat.json_schema.witness.cautions import CAUTIONS, cautions
from compat.json_schema.witness.search import witness
from compat.schema import JSON

FORMAT = SchemaFormat(
    name=JSON,
    parse=parse,
    differences=differences,
    message=message,
    locate=locate,
    rules=RULES,
    witness=witness,
    fixes=fixes,
    cautions=cautions,
    caution_rules=CAUTIONS,
    edited=edited,
    outline=outline,
    older_text=older_text,
)

__all__ = ["FORMAT", "JsonDifference", "JsonSchema", "check_fields", "validator", "witness"]
