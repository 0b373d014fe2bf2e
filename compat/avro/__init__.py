"""Avro: parsing, rules, witnesses and fixes, as strict as the Avro library for Java."""

from __future__ import annotations

from compat.avro.fixes import fixes
from compat.avro.outline import outline
from compat.avro.rules.table import RULES, message
from compat.avro.schema import AvroSchema, differences, edited, is_same, locate, parse
from compat.avro.witness.cautions import CAUTIONS, cautions
from compat.avro.witness.search import witness
from compat.difference import SchemaFormat
from compat.schema import AVRO

__all__ = ["FORMAT", "AvroSchema"]

FORMAT = SchemaFormat(
    AVRO, parse, differences, message, locate, RULES, witness, fixes, cautions, CAUTIONS, edited, outline, is_same
)
