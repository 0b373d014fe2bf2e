"""PROTOBUF: parser, printer, linker and compatibility rules of `.proto` schemas."""

from __future__ import annotations

from compat.difference import SchemaFormat
from compat.protobuf.differing import differences, message
from compat.protobuf.rules import RULES
from compat.protobuf.schema import ProtobufSchema, locate, parse
from compat.schema import PROTOBUF

FORMAT = SchemaFormat(name=PROTOBUF, parse=parse, differences=differences, message=message, locate=locate, rules=RULES)

__all__ = ["FORMAT", "ProtobufSchema"]
