"""The settings of serializers and deserializers: names, types and defaults; unknown names are refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from time import monotonic
from typing import Any, Self

from msgspec.structs import replace

from magicbyte.kit.settings.patterns import java_classes
from magicbyte.kit.settings.section import Section, setting
from serdes.message.subject import (
    REFERENCE_STRATEGIES,
    SUBJECT_SETTINGS,
    Naming,
    ReferenceStrategy,
    naming,
    reference_strategy,
    reference_subject_name_strategy,
)
from serdes.rules.settings import RuleSection, RuleSettings, executor_settings, split_settings
from serdes.setting_kinds import (
    ANY,
    BOOLEAN,
    INTEGER,
    NUMBER,
    TEXT,
    guid,
    one_of,
    pairs,
    placing,
    read_settings,
    schema_id,
)

PREFIX = "prefix"
HEADER = "header"
DUAL = "dual"
CONFIG = "config"


_ID_PLACE = one_of(
    prefix="prefix_schema_id_serializer PrefixSchemaIdSerializer",
    header="header_schema_id_serializer HeaderSchemaIdSerializer",
)
_ID_SOURCE = one_of(
    dual="dual_schema_id_deserializer DualSchemaIdDeserializer",
    prefix="prefix_schema_id_deserializer PrefixSchemaIdDeserializer",
    config="ConfigSchemaIdDeserializer",
)
_DIALECT = one_of(draft_4="", draft_6="", draft_7="", draft_2019_09="", draft_2020_12="")


class CommonConfig(RuleSection):
    """The settings that all serializers and deserializers share."""

    use_latest_version: bool = setting(
        BOOLEAN, "Whether the subject's latest version is used.", "use.latest.version", default=False
    )
    use_latest_with_metadata: dict[str, str] | None = setting(
        pairs(), "Instead: the latest version with this metadata.", "use.latest.with.metadata", default=None
    )
    latest_ttl: float | None = setting(
        NUMBER,
        "Seconds for which a latest version is cached; -1: for ever.",
        "latest.cache.ttl.sec",
        default=None,
        default_words="the client's",
    )
    capacity: int = setting(
        INTEGER,
        "Maximum number of topics and schemas whose codecs are cached.",
        "max.schemas.per.subject",
        default=1000,
    )
    use_schema_id: int | None = setting(schema_id(), "The id of the schema to use.", "use.schema.id", default=None)
    use_schema_guid: str | None = setting(guid(), "The guid of the schema to use.", "use.schema.guid", default=None)
    naming: Naming = field(default_factory=Naming)
    executors: RuleSettings = field(default_factory=RuleSettings)

    @classmethod
    def load(cls, conf: Mapping[str, Any] | None) -> Self:
        """The configuration from a mapping of setting names to values; a value of None counts as absent.

        Raises:
            ConfigError: a name is unknown, or a value is not of its type.
        """
        all_settings = {name: value for name, value in (conf or {}).items() if value is not None}
        of_executors, settings = split_settings(all_settings)
        unknown = f"is no setting of {cls.__name__.removesuffix('Config')}"
        with placing(all_settings):
            names, executors = naming(settings), executor_settings(of_executors)
            return read_settings(cls, settings, unknown, naming=names, executors=executors, also=SUBJECT_SETTINGS)

    def rules(self, rule_conf: Mapping[str, Any] | None = None, rule_registry: Any = None) -> RuleSettings:
        """The settings of rules, with the arguments of confluent-kafka's serializers.

        Raises:
            ConfigError: an argument is of the wrong type.
        """
        return self.executors.with_options(self).with_arguments(rule_conf, rule_registry)

    @property
    def uses_latest(self) -> bool:
        """True if the subject's latest version is used, which may change."""
        return self.use_latest_version or self.use_latest_with_metadata is not None

    def believed_until(self, client_ttl: float | None) -> float | None:
        """The time, on the monotonic clock, when a latest version read now expires; None for never."""
        ttl = client_ttl if self.latest_ttl is None else self.latest_ttl
        return None if not self.uses_latest or ttl is None or ttl < 0 else monotonic() + ttl


class SerializerConfig(CommonConfig):
    """The settings that all serializers share."""

    auto_register: bool | None = setting(
        BOOLEAN,
        "Whether the serializer registers its schema.",
        "auto.register.schemas",
        "auto.register",
        default=None,
        default_words="true, unless a setting says which schema to use",
    )
    normalize: bool = setting(
        BOOLEAN, "Whether the registry normalizes the schema.", "normalize.schemas", default=False
    )
    id_strict: bool = setting(
        BOOLEAN, "Whether the schema of an id must read the data.", "id.compatibility.strict", default=True
    )
    latest_strict: bool = setting(
        BOOLEAN, "Whether the latest version must read the data.", "latest.compatibility.strict", default=True
    )
    propagate_tags: bool = setting(
        BOOLEAN, "Whether a new version gets the latest one's tags.", "propagate.schema.tags", default=False
    )
    schema_format: str | None = setting(
        TEXT, "The format in which the registry returns schemas.", "schema.format", default=None
    )
    key_id_place: str | None = setting(
        _ID_PLACE, "As `schema.id.serializer`, for keys.", "key.schema.id.serializer", default=None
    )
    value_id_place: str | None = setting(
        _ID_PLACE, "As `schema.id.serializer`, for values.", "value.schema.id.serializer", default=None
    )
    id_place: str = setting(
        _ID_PLACE,
        "Where the schema's id goes: before the payload, or to a header.",
        "schema.id.serializer",
        default=PREFIX,
    )

    def problems(self) -> Iterable[tuple[str, str]]:
        """Settings that contradict each other."""
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
            yield (
                "auto.register.schemas",
                f"cannot be true with {chosen[0]}, which names a schema; remove one",
            )

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


class DeserializerConfig(CommonConfig):
    """The settings that all deserializers share."""

    key_id_source: str | None = setting(
        _ID_SOURCE, "As `schema.id.deserializer`, for keys.", "key.schema.id.deserializer", default=None
    )
    value_id_source: str | None = setting(
        _ID_SOURCE, "As `schema.id.deserializer`, for values.", "value.schema.id.deserializer", default=None
    )
    id_source: str = setting(
        _ID_SOURCE,
        "What names a schema: header or prefix, prefix, or settings.",
        "schema.id.deserializer",
        default=DUAL,
    )

    def problems(self) -> Iterable[tuple[str, str]]:
        """Settings that need each other."""
        sources = {
            "schema.id.deserializer": self.id_source,
            "key.schema.id.deserializer": self.key_id_source,
            "value.schema.id.deserializer": self.value_id_source,
        }
        by_settings = [name for name, source in sources.items() if source == CONFIG]
        schemas = {"use.schema.id": self.use_schema_id, "use.schema.guid": self.use_schema_guid}
        named = [name for name, value in schemas.items() if value is not None]
        if by_settings and not named:
            yield by_settings[0], f"{CONFIG} takes the schema from a setting; set use.schema.id or use.schema.guid"
        if named and not by_settings:
            yield named[0], f"has no effect unless schema.id.deserializer is {CONFIG}; set it, or remove {named[0]}"

    def source(self, *, is_key: bool) -> str:
        """The place that names a message's schema: `dual` (header, else prefix), `prefix`, or `config`."""
        return (self.key_id_source if is_key else self.value_id_source) or self.id_source


class AvroSerializerConfig(SerializerConfig):
    """AvroSerializer's settings."""

    validate_strict: bool = setting(
        BOOLEAN, "Whether records must have all fields and no others.", "validate.strict", default=False
    )
    validate_strict_allow_default: bool = setting(
        BOOLEAN,
        "As `validate.strict`; fields with defaults are optional.",
        "validate.strict.allow.default",
        default=False,
    )


class JSONConfig(Section):
    """The settings of the serializer and deserializer of JSON Schemas."""

    validate: bool = setting(
        BOOLEAN, "Whether data are validated.", "validate", "json.fail.invalid.schema", default=True
    )
    dialect: str = setting(
        _DIALECT, "The dialect of schemas that name none.", "json.schema.spec.version", default="draft_7"
    )
    validate_before_rules: bool | None = setting(
        BOOLEAN,
        "Whether data are validated before the domain rules are carried out on them, or after.",
        "json.validate.before.domain.rules",
        default=None,
        default_words="before on writing, after on reading: the value as applications see it",
    )


class JSONSerializerConfig(SerializerConfig, JSONConfig):
    """JSONSerializer's settings."""


class JSONDeserializerConfig(DeserializerConfig, JSONConfig):
    """JSONDeserializer's settings."""


class ProtobufConfig(Section):
    """The settings of the serializer and deserializer of Protobuf."""

    plain_indexes: bool = setting(
        BOOLEAN, "Whether message indexes are plain varints.", "use.deprecated.format", default=False
    )


class ProtobufSerializerConfig(SerializerConfig, ProtobufConfig):
    """ProtobufSerializer's settings."""

    skip_known_types: bool = setting(
        BOOLEAN, "Whether imports of well-known types are not registered.", "skip.known.types", default=True
    )
    reference_lookup_only: bool = setting(
        BOOLEAN, "Whether imports are looked up instead of registered.", "reference.lookup.only", default=False
    )
    reference_naming: ReferenceStrategy = setting(
        replace(
            ANY,
            label=f"{' or '.join(REFERENCE_STRATEGIES)}, or a function",
            convert=reference_strategy,
            schema=java_classes(REFERENCE_STRATEGIES),
        ),
        "How the subjects of imports are named.",
        "reference.subject.name.strategy",
        default=reference_subject_name_strategy,
        default_words="`DefaultReferenceSubjectNameStrategy`",
    )


class ProtobufDeserializerConfig(DeserializerConfig, ProtobufConfig):
    """ProtobufDeserializer's settings."""
