"""PROTOBUF: parser, printer, linker, compatibility rules, witnesses and fixes of `.proto` schemas."""

from __future__ import annotations

from compat.difference import SchemaFormat
from compat.protobuf.fixes import fixes
from compat.protobuf.outline import outline
from compat.protobuf.rules.differing import differences, message
from compat.protobuf.rules.table import RULES
from compat.protobuf.schema import ProtobufSchema, check_fields, edited, locate, older_text, parse, warnings
from compat.protobuf.witness.cautions import CAUTIONS, cautions
from compat.protobuf.witness.search import witness
from compat.schema import PROTOBUF

FORMAT = SchemaFormat(
    name=PROTOBUF,
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
    warnings=warnings,
)

__all__ = ["FORMAT", "ProtobufSchema", "check_fields"]
