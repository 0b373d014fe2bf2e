"""A tool's properties, sorted: those of the tool, of the registry client, and of the (de)serializer."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from magicbyte.kit.settings.place import moved
from serdes.error import ConfigError
from serdes.setting_kinds import BOOLEAN, placing, typed

#: Properties that only Java's classes use; they have no effect here.
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


#: Properties that say which schema a producer uses, each after `key.` or `value.`.
SCHEMA_PROPERTIES = (
    "schema",
    "schema.file",
    "schema.id",
    "refs",
    "metadata",
    "rule.set",
    "schema.full.name",
)

#: Properties of the registry client, besides those with one of the prefixes in `is_of_client`.
CLIENT_PROPERTIES = frozenset(
    {"max.retries", "retries.wait.ms", "retries.max.wait.ms", "cache.capacity", "cache.latest.ttl.sec", "timeout"}
    | {"proxy", "proxy.host", "proxy.port"}
)


#: The property for the JSON form of Avro's logical types: `text`, or `stored` as in Avro's own JSON.
LOGICAL_TYPES = "avro.logical.types"


def is_of_client(name: str) -> bool:
    """Whether a property belongs to the registry client."""
    return name.startswith(("schema.registry.", "basic.auth.", "bearer.auth.", "ssl.")) or name in CLIENT_PROPERTIES


@dataclass(frozen=True, slots=True)
class Properties:
    """A tool's properties, sorted by the component that reads them."""

    tool: Mapping[str, str] = field(default_factory=dict)
    client: Mapping[str, str] = field(default_factory=dict)
    serde: Mapping[str, str] = field(default_factory=dict)

    def flag(self, name: str, *, default: bool = False) -> bool:
        """A boolean property of the tool.

        Raises:
            ConfigError: The value is neither true nor false.
        """
        value = self.tool.get(name)
        # Java's parser accepts any case, and spaces around the value.
        return default if value is None else typed(BOOLEAN, name, moved(value.strip(), value))

    @property
    def has_logical_texts(self) -> bool:
        """Whether Avro JSON has logical types as texts; see `TextOptions.logical`.

        Raises:
            ConfigError: The property is neither text nor stored.
        """
        with placing(self.tool):
            value = self.tool.get(LOGICAL_TYPES, "text").strip()
            if value not in {"text", "stored"}:
                raise ConfigError(LOGICAL_TYPES, f"must be text or stored, not {value}")
        return value == "text"


def parse_pairs(option: str, pairs: Sequence[str]) -> dict[str, str]:
    """The properties of `name=value` arguments; of several with the same name, the last counts.

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
    """The properties of a file, whose values know their places; empty without a path.

    Raises:
        ConfigError: The file cannot be read.
    """
    if path is None:
        return {}
    from magicbyte.kit.settings.property_sources import properties_of_file  # noqa: PLC0415  # only if a file is named

    try:
        return properties_of_file(Path(path))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise ConfigError(option, f"{path} cannot be read: {reason}") from error


def sort(pairs: Mapping[str, str], names: Sequence[str], prefixes: tuple[str, ...] = ()) -> Properties:
    """Sorts properties; the tool's have one of the names or prefixes. Drops Java-only properties with a warning."""
    left_out = sorted(name for name in pairs if name in _JAVA_ONLY)
    for name in left_out:
        sys.stderr.write(f"the property {name} has no meaning here and is left out\n")
    sorted_ = Properties({}, {}, {})
    for name, value in pairs.items():
        if name in left_out:
            continue
        if name in names or name.startswith(prefixes or ("\0",)):
            kind = sorted_.tool
        elif is_of_client(name):
            kind = sorted_.client
        else:
            kind = sorted_.serde
        assert isinstance(kind, dict)
        kind[name] = value
    return sorted_
