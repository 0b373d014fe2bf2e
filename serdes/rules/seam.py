"""The refusal of rules, for callers that do not carry them out: the REST proxy, the console tools and Spark.

They pass each encoder or decoder of a registry's schema through here. A schema with rules for clients is refused;
all other encoders and decoders are returned unchanged: a message costs nothing. Serializers and deserializers carry
rules out; see `serdes.rules.plan`.
"""

from __future__ import annotations

from typing import TypeVar

from serdes.error import RulesNotSupported
from serdes.rules.context import Ruled

__all__ = ["Ruled", "after_decoding", "before_encoding", "refusal"]

_WRITE = frozenset({"WRITE", "WRITEREAD"})
_READ = frozenset({"READ", "WRITEREAD"})
_MIGRATE = frozenset({"UPGRADE", "DOWNGRADE", "UPDOWN"})
#: Values of a rule set's `enableAt` that leave clients out.
_NOT_AT_CLIENTS = frozenset({"NONE", "SERVER", "GATEWAY"})

E = TypeVar("E")
D = TypeVar("D")


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
