"""Which of a tool's properties is whose: its own, the registry client's, or the (de)serializer's."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from serdes.error import ConfigError
from serdes.message.parsers import boolean

#: What only Java's classes have a use for; it changes no text and no byte here.
_JAVA_ONLY = (
    "avro.remove.java.properties",
    "avro.reflection.allow.null",
    "avro.use.logical.type.converters",
    "derive.type",
    "enable.auto.schema.registration",
    "enable.rule.service.loader",
    "http.connect.timeout.ms",
    "http.read.timeout.ms",
    "json.indent.output",
    "json.key.type",
    "json.oneof.for.nullables",
    "json.value.type",
    "json.write.dates.iso8601",
    "rule.service.loader.enable",
    "schema.reflection",
    "specific.avro.reader",
    "specific.avro.key.type",
    "specific.avro.value.type",
    "specific.protobuf.key.type",
    "specific.protobuf.value.type",
    "type.property",
)


#: Properties that say which schema a producer uses; `key.` or `value.` stands before them.
SCHEMA_PROPERTIES = (
    "schema",
    "schema.file",
    "schema.id",
    "refs",
    "metadata",
    "rule.set",
    "schema.full.name",
)

#: Properties of the registry's client, beside those that begin with `schema.registry.`, `basic.auth.`, `bearer.auth.`.
CLIENT_PROPERTIES = frozenset(
    {"max.retries", "retries.wait.ms", "retries.max.wait.ms", "cache.capacity", "cache.latest.ttl.sec", "timeout"}
    | {"proxy", "proxy.host", "proxy.port"}
)


def is_of_client(name: str) -> bool:
    """Whether a property is one of the registry's client."""
    return name.startswith(("schema.registry.", "basic.auth.", "bearer.auth.")) or name in CLIENT_PROPERTIES


@dataclass(frozen=True, slots=True)
class Properties:
    """A tool's properties, sorted by who reads them."""

    own: Mapping[str, str] = field(default_factory=dict)
    client: Mapping[str, str] = field(default_factory=dict)
    serde: Mapping[str, str] = field(default_factory=dict)

    def flag(self, name: str, *, default: bool = False) -> bool:
        """A property of the tool that is true or false.

        Raises:
            ConfigError: It is neither.
        """
        value = self.own.get(name)
        # Java's parser takes any case and space around.
        return default if value is None else boolean(name, value.strip())


def parse_pairs(option: str, pairs: Sequence[str]) -> dict[str, str]:
    """The properties of `name=value` arguments; the last of a name counts.

    Raises:
        ConfigError: An argument has no `=`.
    """
    properties: dict[str, str] = {}
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not separator or not name:
            raise ConfigError(option, f"must be name=value, not {pair!r}")
        properties[name] = value
    return properties


def read_file(option: str, path: str | None) -> dict[str, str]:
    """The properties of a file; none without one.

    Raises:
        ConfigError: It cannot be read.
    """
    if path is None:
        return {}
    from magicbyte.kit.properties_file import read_properties_file  # noqa: PLC0415  # only where a file is named

    try:
        return read_properties_file(Path(path))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise ConfigError(option, f"{path} cannot be read: {reason}") from error


def sort(given: Mapping[str, str], own: Sequence[str], own_prefixes: tuple[str, ...] = ()) -> Properties:
    """The properties by who reads them; what only Java has a use for is told on stderr and left out."""
    left_out = sorted(
        name for name in given if name in _JAVA_ONLY or name.startswith(("rule.executors", "rule.actions"))
    )
    for name in left_out:
        sys.stderr.write(f"the property {name} has no meaning here and is left out\n")
    sorted_ = Properties({}, {}, {})
    for name, value in given.items():
        if name in left_out:
            continue
        if name in own or name.startswith(own_prefixes or ("\0",)):
            kind = sorted_.own
        elif is_of_client(name):
            kind = sorted_.client
        else:
            kind = sorted_.serde
        assert isinstance(kind, dict)
        kind[name] = value
    return sorted_
