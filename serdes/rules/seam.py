"""Rules that a registry attaches to schemas: the seam before encoding and after decoding.

Whoever makes an encoder or a decoder of one of the registry's schemas passes it through here: the serializers' and
deserializers' flows, on which the REST proxy and the console tools stand, and Spark's workers. This library carries out
no rules yet, so the seam refuses a schema with rules for clients, and returns all other encoders and decoders as they
are: a message costs nothing.
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
        name: What errors call the schema.
        schema: Its text.
        rule_set: The rules as the API has them; None without.
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
    """The decoder of messages, with the schemas' rules carried out behind it.

    Args:
        writer: The schema that the messages were written with.
        reader: The registry's schema that they are read as; None if it is the writer's, or given in code.
        decoder: The decoder without rules.

    Raises:
        RulesNotSupported: One of the schemas has rules that a client must carry out on messages that it reads.
    """
    _refuse(writer, _READ)
    if reader is not None:
        _refuse(reader, _READ if reader.schema == writer.schema else _READ | _MIGRATE)
    return decoder


def refusal(writer: Ruled, reader: Ruled | None) -> str | None:
    """Why messages must not be read, where the decoder is not ours (Spark's JVM); None if they may be.

    The arguments are those of `after_decoding`.
    """
    try:
        after_decoding(writer, reader, None)
    except RulesNotSupported as error:
        return str(error)
    return None


def _refuse(ruled: Ruled, modes: frozenset[str]) -> None:
    """Stop at rules for clients: to ignore ENCRYPT would publish what is secret."""
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
