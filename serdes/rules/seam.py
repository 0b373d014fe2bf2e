"""The rules that a registry attaches to schemas: the hook before encoding and after decoding.

Every encoder or decoder of a registry's schema passes through here: those of serializers and deserializers, which the
REST proxy and the console tools use, and those of Spark's workers. This library carries out no rules yet, so the hook
refuses a schema with rules for clients, and returns all other encoders and decoders unchanged: a message costs
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from compat.schema import SchemaText
from serdes.error import RulesNotSupported

_WRITE = frozenset({"WRITE", "WRITEREAD"})
_READ = frozenset({"READ", "WRITEREAD"})
_MIGRATE = frozenset({"UPGRADE", "DOWNGRADE", "UPDOWN"})
#: Values of a rule set's `enableAt` that leave clients out.
_NOT_AT_CLIENTS = frozenset({"NONE", "SERVER", "GATEWAY"})

E = TypeVar("E")
D = TypeVar("D")


@dataclass(frozen=True, slots=True)
class Ruled:
    """A schema and the rules that the registry has for it.

    Attributes:
        name: The schema's name in error texts.
        schema: The schema's text.
        rule_set: The rules as JSON of the API; None if there are none.
    """

    name: str
    schema: SchemaText
    rule_set: Mapping[str, Any] | None = field(default=None, hash=False)


def before_encoding(writer: Ruled, encoder: E) -> E:
    """The encoder of a schema, with the schema's rules carried out before it.

    Raises:
        RulesNotSupported: The schema has rules that a client must carry out on messages that it writes.
    """
    _refuse(writer, _WRITE)
    return encoder


def after_decoding(writer: Ruled, reader: Ruled | None, decoder: D) -> D:
    """The decoder of messages, followed by the schemas' rules.

    Args:
        writer: The schema that the messages were written with.
        reader: The registry's schema that they are resolved to; None if it is the writer's, or given in code.
        decoder: The decoder without rules.

    Raises:
        RulesNotSupported: One of the schemas has rules that a client must carry out on messages that it reads.
    """
    _refuse(writer, _READ)
    if reader is not None:
        _refuse(reader, _READ if reader.schema == writer.schema else _READ | _MIGRATE)
    return decoder


def refusal(writer: Ruled, reader: Ruled | None) -> str | None:
    """The reason why a decoder outside this library (Spark's JVM) must not read messages; None if it may.

    The arguments are those of `after_decoding`.
    """
    try:
        after_decoding(writer, reader, None)
    except RulesNotSupported as error:
        return str(error)
    return None


def _refuse(ruled: Ruled, modes: frozenset[str]) -> None:
    """Refuses rules for clients: to ignore an ENCRYPT rule would publish secrets."""
    rule_set = ruled.rule_set
    if not rule_set or rule_set.get("enableAt") in _NOT_AT_CLIENTS:
        return
    names = tuple(
        str(rule.get("name"))
        for phase in ("migrationRules", "domainRules", "encodingRules")
        for rule in rule_set.get(phase) or ()
        if rule.get("mode") in modes and not rule.get("disabled")
    )
    if names:
        raise RulesNotSupported(ruled.name, names)
