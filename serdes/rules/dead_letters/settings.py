"""The settings of the action DLQ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from serdes.rules.context import RuleContext
from serdes.rules.error import RuleUnusable

TOPIC = "dlq.topic"
REDACTED_TYPES = "dlq.redact.rule.types"
TIMEOUT = "dlq.timeout.ms"
#: A producer that the application already has.
PRODUCER = "producer"
SERVERS = "bootstrap.servers"

_DEFAULT_TYPES = "ENCRYPT,ENCRYPT_PAYLOAD"
_DEFAULT_TIMEOUT_MS = 30_000
_LONGEST_MS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class DeadLetterSettings:
    """The settings of the action for one rule.

    Attributes:
        topic: The topic of dead letters.
        redacted_types: The types of rules whose fields are redacted, in upper case.
        timeout_ms: How long a record may take to be stored, in milliseconds.
        producer: A producer of the application's, or None to make one.
        client: The properties of the producer to make.
    """

    topic: str
    redacted_types: frozenset[str]
    timeout_ms: int
    producer: Any
    client: Mapping[str, Any]


def dead_letter_settings(context: RuleContext) -> DeadLetterSettings:
    """The settings of a rule's dead letters.

    The topic is the rule's parameter, else the property of the schema's metadata, else the setting. All other settings
    are those of the serializer or deserializer.

    Raises:
        RuleUnusable: A setting is missing or wrong.
    """
    settings = {**_options(context), **context.settings.parameters(context.rule.name or "", "DLQ")}
    topic = context.parameter(TOPIC) or settings.get(TOPIC)
    if not topic:
        raise RuleUnusable(
            f"Could not send to DLQ as no topic is configured; set {TOPIC} in the rule's parameters or in the settings"
        )
    producer = settings.get(PRODUCER)
    client = {name: value for name, value in settings.items() if name != PRODUCER and not name.startswith("dlq.")}
    if producer is None and not client.get(SERVERS):
        raise RuleUnusable(f"dead letters need a broker; set {SERVERS} or {PRODUCER} in the settings")
    types = str(settings.get(REDACTED_TYPES) or _DEFAULT_TYPES)
    redacted = frozenset(name.strip().upper() for name in types.split(",") if name.strip())
    return DeadLetterSettings(str(topic), redacted, _milliseconds(settings.get(TIMEOUT)), producer, client)


def _options(context: RuleContext) -> dict[str, Any]:
    """The settings of dead letters that stand among those of the serializer."""
    options = context.settings.options
    values = {
        TOPIC: getattr(options, "dead_letter_topic", None),
        REDACTED_TYPES: getattr(options, "dead_letter_types", None),
        TIMEOUT: getattr(options, "dead_letter_timeout", None),
        SERVERS: getattr(options, "bootstrap_servers", None),
    }
    return {name: value for name, value in values.items() if value is not None}


def _milliseconds(value: Any) -> int:
    text = str(_DEFAULT_TIMEOUT_MS if value is None else value).strip()
    digits = text.isascii() and text.isdigit() and len(text) <= len(str(_LONGEST_MS))
    if not digits or not 1 <= int(text) <= _LONGEST_MS:
        raise RuleUnusable(
            f"{TIMEOUT} must be a whole number of milliseconds from 1 to {_LONGEST_MS}, not {text[:40]!r}"
        )
    return int(text)
