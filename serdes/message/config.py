"""The settings of serializers and deserializers: names, types and defaults; unknown names are refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from time import monotonic
from typing import Any, Self, TypeVar

from serdes.client.clients import BaseClient
from serdes.error import ConfigError
from serdes.message.parsers import boolean, guid, integer, number, one_of, pairs, schema_id, text
from serdes.message.subject import (
    SUBJECT_SETTINGS,
    Naming,
    ReferenceStrategy,
    naming,
    reference_strategy,
    reference_subject_name_strategy,
)

PREFIX = "prefix"
HEADER = "header"
DUAL = "dual"
CONFIG = "config"


def setting(parse: Callable[[str, Any], Any], default: Any, *names: str) -> Any:
    """A field of a configuration; the first of its names that is set counts."""
    return field(default=default, metadata={"names": names, "parse": parse})


_id_place = one_of(
    prefix="prefix_schema_id_serializer PrefixSchemaIdSerializer",
    header="header_schema_id_serializer HeaderSchemaIdSerializer",
)
_id_source = one_of(
    dual="dual_schema_id_deserializer DualSchemaIdDeserializer",
    prefix="prefix_schema_id_deserializer PrefixSchemaIdDeserializer",
    config="ConfigSchemaIdDeserializer",
)
_dialect = one_of(draft_4="", draft_6="", draft_7="", draft_2019_09="", draft_2020_12="")


@dataclass(frozen=True, slots=True)
class CommonConfig:
    """The settings that all serializers and deserializers share."""

    use_latest_version: bool = setting(boolean, False, "use.latest.version")
    use_latest_with_metadata: dict[str, str] | None = setting(  # noqa: RUF009  # a field, as dataclasses.field is
        pairs, None, "use.latest.with.metadata"
    )
    #: Seconds for which a latest version is cached; None: as long as the client caches it; -1: for ever.
    latest_ttl: float | None = setting(number, None, "latest.cache.ttl.sec")
    #: The number of topics and schemas whose codecs are cached; the cache is emptied when it is full.
    capacity: int = setting(integer, 1000, "max.schemas.per.subject")
    naming: Naming = field(default_factory=Naming)

    @classmethod
    def load(cls, conf: Mapping[str, Any] | None) -> Self:
        """The configuration from a mapping of setting names to values; a value of None counts as absent.

        Raises:
            ConfigError: a name is unknown, or a value is not of its type.
        """
        settings = {name: value for name, value in (conf or {}).items() if value is not None}
        values: dict[str, Any] = {"naming": naming(settings)}
        for row in fields(cls):
            for name in row.metadata.get("names", ()):
                if name in settings:
                    values.setdefault(row.name, row.metadata["parse"](name, settings.pop(name)))
        if settings:
            raise _unknown(cls, sorted(settings))
        return cls(**values)

    @property
    def uses_latest(self) -> bool:
        """True if the subject's latest version is used, which may change."""
        return self.use_latest_version or self.use_latest_with_metadata is not None

    def believed_until(self, client_ttl: float | None) -> float | None:
        """The time, on the monotonic clock, when a latest version read now expires; None for never."""
        ttl = client_ttl if self.latest_ttl is None else self.latest_ttl
        return None if not self.uses_latest or ttl is None or ttl < 0 else monotonic() + ttl


@dataclass(frozen=True, slots=True)
class SerializerConfig(CommonConfig):
    """The settings that all serializers share."""

    #: None if it is not set: then true, unless another setting says which schema to use.
    auto_register: bool | None = setting(boolean, None, "auto.register.schemas", "auto.register")
    normalize: bool = setting(boolean, False, "normalize.schemas")
    use_schema_id: int | None = setting(schema_id, None, "use.schema.id")
    use_schema_guid: str | None = setting(guid, None, "use.schema.guid")
    id_strict: bool = setting(boolean, True, "id.compatibility.strict")
    latest_strict: bool = setting(boolean, True, "latest.compatibility.strict")
    propagate_tags: bool = setting(boolean, False, "propagate.schema.tags")
    schema_format: str | None = setting(text, None, "schema.format")
    key_id_place: str | None = setting(_id_place, None, "key.schema.id.serializer")
    value_id_place: str | None = setting(_id_place, None, "value.schema.id.serializer")
    id_place: str = setting(_id_place, PREFIX, "schema.id.serializer")

    def __post_init__(self) -> None:
        chosen = [
            name
            for name, value in (
                ("use.schema.id", self.use_schema_id),
                ("use.schema.guid", self.use_schema_guid),
                ("use.latest.with.metadata", self.use_latest_with_metadata),
                ("use.latest.version", self.use_latest_version or None),
            )
            if value is not None
        ]
        if chosen and self.auto_register:
            raise ConfigError("auto.register.schemas", f"cannot be true together with {chosen[0]}")

    @property
    def registers(self) -> bool:
        """True if the serializer registers its own schema."""
        if self.auto_register is not None:
            return self.auto_register
        return not self.names_schema

    @property
    def names_schema(self) -> bool:
        """True if a setting says which of the registry's schemas to use."""
        return self.uses_latest or self.use_schema_id is not None or self.use_schema_guid is not None

    def in_header(self, *, is_key: bool) -> bool:
        """True if the schema's guid goes into a header, false if its id goes before the payload."""
        return ((self.key_id_place if is_key else self.value_id_place) or self.id_place) == HEADER


@dataclass(frozen=True, slots=True)
class DeserializerConfig(CommonConfig):
    """The settings that all deserializers share."""

    key_id_source: str | None = setting(_id_source, None, "key.schema.id.deserializer")
    value_id_source: str | None = setting(_id_source, None, "value.schema.id.deserializer")
    id_source: str = setting(_id_source, DUAL, "schema.id.deserializer")
    #: The schema of messages without a frame, if the source is `config`.
    use_schema_id: int | None = setting(schema_id, None, "use.schema.id")
    use_schema_guid: str | None = setting(guid, None, "use.schema.guid")

    def __post_init__(self) -> None:
        sources = {self.key_id_source, self.value_id_source, self.id_source}
        named = self.use_schema_id is not None or self.use_schema_guid is not None
        if named != (CONFIG in sources):
            raise ConfigError("use.schema.id", "and schema.id.deserializer=config need each other")

    def source(self, *, is_key: bool) -> str:
        """The place that names a message's schema: `dual` (header, else prefix), `prefix`, or `config`."""
        return (self.key_id_source if is_key else self.value_id_source) or self.id_source


@dataclass(frozen=True, slots=True)
class AvroSerializerConfig(SerializerConfig):
    """AvroSerializer's settings."""

    validate_strict: bool = setting(boolean, False, "validate.strict")
    validate_strict_allow_default: bool = setting(boolean, False, "validate.strict.allow.default")


@dataclass(frozen=True, slots=True)
class JSONSerializerConfig(SerializerConfig):
    """JSONSerializer's settings."""

    validate: bool = setting(boolean, True, "validate", "json.fail.invalid.schema")
    #: The dialect of schemas that name none.
    dialect: str = setting(_dialect, "draft_7", "json.schema.spec.version")


@dataclass(frozen=True, slots=True)
class JSONDeserializerConfig(DeserializerConfig):
    """JSONDeserializer's settings."""

    validate: bool = setting(boolean, True, "validate", "json.fail.invalid.schema")
    #: The dialect of schemas that name none.
    dialect: str = setting(_dialect, "draft_7", "json.schema.spec.version")


@dataclass(frozen=True, slots=True)
class ProtobufSerializerConfig(SerializerConfig):
    """ProtobufSerializer's settings."""

    skip_known_types: bool = setting(boolean, True, "skip.known.types")
    reference_lookup_only: bool = setting(boolean, False, "reference.lookup.only")
    reference_naming: ReferenceStrategy = setting(  # noqa: RUF009  # a field, as dataclasses.field is
        reference_strategy, reference_subject_name_strategy, "reference.subject.name.strategy"
    )
    plain_indexes: bool = setting(boolean, False, "use.deprecated.format")


@dataclass(frozen=True, slots=True)
class ProtobufDeserializerConfig(DeserializerConfig):
    """ProtobufDeserializer's settings."""

    plain_indexes: bool = setting(boolean, False, "use.deprecated.format")


C = TypeVar("C", bound=BaseClient)


def checked_client(client: object, kind: type[C]) -> C:
    """The client, checked to be of the kind that the serializer needs.

    Raises:
        TypeError: it is not.
    """
    if not isinstance(client, kind):
        actual = f"{type(client).__module__}.{type(client).__name__}"
        raise TypeError(f"schema_registry_client must be a serdes.{kind.__name__} or of a kind of it, not {actual}")
    return client


F = TypeVar("F", bound=Callable[..., Any] | None)


def checked_function(name: str, function: F) -> F:
    """The function or None, after a check of its type.

    Raises:
        ConfigError: it is neither a function nor None.
    """
    if function is not None and not callable(function):
        raise ConfigError(name, f"must be a function of an object and its context, not {type(function).__name__}")
    return function


def _unknown(cls: type[CommonConfig], names: list[str]) -> ConfigError:
    import difflib  # noqa: PLC0415  # only to suggest a name

    settings = [name for row in fields(cls) for name in row.metadata.get("names", ())]
    settings += SUBJECT_SETTINGS
    close = difflib.get_close_matches(names[0], settings, 1)
    hint = f"; did you mean {close[0]}?" if close else ""
    others = f" (nor are {', '.join(names[1:])})" if names[1:] else ""
    return ConfigError(names[0], f"is no setting of {cls.__name__.removesuffix('Config')}{others}{hint}")
