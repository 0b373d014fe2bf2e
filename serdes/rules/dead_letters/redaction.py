"""The value of a dead letter: the JSON of a datum, without what rules of encryption protect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from compat.contracts.model import RuleSet
from compat.contracts.walk import field_walk
from compat.contracts.walk.leaf import Leaf, Visit
from compat.schema import AVRO
from serdes.codec.schema import parse
from serdes.rules.context import RuleContext
from serdes.rules.dead_letters.record import json_bytes, scalar_bytes
from serdes.rules.jsonata.document import document
from serdes.rules.jsonata.traced_values import HeldText
from serdes.rules.jsonata.values import protobuf_document
from serdes.rules.redact import REDACTED

_BINARY = (bytes, bytearray, memoryview)


def letter_value(context: RuleContext, types: frozenset[str]) -> Callable[[Any], bytes | None]:
    """The function from the datum that was to be written to the bytes of its dead letter.

    Strings and bytes that a rule of the given types selects are redacted; all of them, if such a rule has no tags or is
    one of the payload. A datum that cannot be redacted is replaced as a whole.

    Args:
        context: The rule that failed; the rules that redact are those of its schema.
        types: The types of rules whose fields are redacted, in upper case.

    Raises:
        ValueError: The schema or its rules cannot be read.
    """
    rule_set = RuleSet.from_json(context.ruled.rule_set) or RuleSet()
    rules = [rule for _, rules, _ in rule_set.groups for rule in rules if (rule.type or "").upper() in types]
    tags = frozenset(tag for rule in rules for tag in rule.tags)
    redacts_all = any(not rule.tags or rule.type == "ENCRYPT_PAYLOAD" for rule in rules)
    walk = _walk(context, tags) if tags and not redacts_all else None
    to_document = _documents(context)

    def value_of(datum: Any) -> bytes | None:
        if datum is None:
            return None
        scalar = scalar_bytes(datum)
        if scalar is not None:
            is_text = isinstance(datum, str | UUID | bytes | bytearray | memoryview)
            return REDACTED.encode() if redacts_all and is_text else scalar
        try:
            shown = to_document(datum if walk is None else walk(datum))
            return json_bytes(_without_texts(shown) if redacts_all else shown)
        except Exception:  # noqa: BLE001  # what cannot be redacted must not be published
            return REDACTED.encode() if rules else json_bytes(datum)

    return value_of


def plain_value(datum: Any) -> bytes | None:
    """The bytes of a datum that no rule protects, such as another serializer's key."""
    if datum is None:
        return None
    scalar = scalar_bytes(datum)
    return json_bytes(_plain_document(datum)) if scalar is None else scalar


def _walk(context: RuleContext, tags: frozenset[str]) -> Callable[[Any], Any] | None:
    ruled = context.ruled

    def select(leaf: Leaf) -> Visit | None:
        return _redacted if leaf.tags & tags and leaf.type_name in ("STRING", "BYTES") else None

    return field_walk(ruled.schema, ruled.dependencies, context.metadata).compile(select)


def _redacted(value: Any, record: Any) -> Any:  # noqa: ARG001  # the signature of visits
    if value is None:
        return None
    return REDACTED.encode() if isinstance(value, _BINARY) else REDACTED


def _documents(context: RuleContext) -> Callable[[Any], Any]:
    """The function from a datum to its JSON document: bytes are texts of ISO-8859-1."""
    ruled = context.ruled
    if ruled.schema.schema_type != AVRO:
        return _plain_document
    node = parse(ruled.schema.text, [dependency.text for dependency in ruled.dependencies])
    return lambda datum: document(datum, node)


def _plain_document(datum: Any) -> Any:
    if hasattr(datum, "DESCRIPTOR"):
        return protobuf_document(datum, defaults=False)
    return document(datum)


def _without_texts(shown: Any) -> Any:
    """The document with all texts redacted, apart from those of dates and times, whose base types are numbers."""
    if isinstance(shown, dict):
        return {key: _without_texts(item) for key, item in shown.items()}
    if isinstance(shown, list):
        return [_without_texts(item) for item in shown]
    if isinstance(shown, HeldText) and hasattr(shown.original, "isoformat"):
        return shown
    return REDACTED if isinstance(shown, str) else shown
