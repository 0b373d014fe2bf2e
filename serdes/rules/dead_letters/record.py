"""The record of a dead letter: its key, its value and its headers."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from serdes.rules.context import Message, RuleContext
from serdes.rules.plan import RULE_NAME

RULE_MODE = "__rule.mode"
RULE_SUBJECT = "__rule.subject"
RULE_TOPIC = "__rule.topic"
RULE_EXCEPTION = "__rule.exception"

Header = tuple[str, bytes | None]

_LONG_MIN, _LONG_MAX = -(2**63), 2**63 - 1


def letter_headers(context: RuleContext, message: Message, failure: Exception | None) -> list[Header]:
    """The record's own headers, then those that name the rule, its mode, subject and topic, and the failure's text."""
    headers = [(name, _header_bytes(value)) for name, value in _pairs(message.headers)]
    headers += [
        (RULE_NAME, _header_bytes(context.rule.name)),
        (RULE_MODE, _header_bytes(context.mode)),
        (RULE_SUBJECT, _header_bytes(message.subject)),
        (RULE_TOPIC, _header_bytes(message.topic)),
    ]
    if failure is not None:
        headers.append((RULE_EXCEPTION, _header_bytes(str(failure))))
    return headers


def _pairs(headers: Any) -> Iterable[tuple[str, Any]]:
    if not headers:
        return ()
    pairs: Iterable[tuple[str, Any]] = headers.items() if hasattr(headers, "items") else headers
    return pairs


def _header_bytes(value: Any) -> bytes | None:
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    return str(value).encode("utf-8", "backslashreplace")


def scalar_bytes(value: Any) -> bytes | None:
    """The bytes of a value without parts; None if it is written as JSON.

    Bytes stay, text and UUIDs are UTF-8, an integer of 64 bits and a float have 8 bytes, the highest first.
    """
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    if isinstance(value, str | UUID):
        return str(value).encode("utf-8", "backslashreplace")
    if isinstance(value, float):
        return struct.pack(">d", value)
    if isinstance(value, int) and not isinstance(value, bool) and _LONG_MIN <= value <= _LONG_MAX:
        return struct.pack(">q", value)
    return None


def json_bytes(document: Any) -> bytes:
    """The compact JSON text of a document in UTF-8; what JSON lacks becomes text."""
    text = json.dumps(document, default=str, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")
