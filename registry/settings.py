"""The registry's settings, by Confluent's property names."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, field_validator

from compat.level import LEVELS
from magicbyte.http.listener import Listener, parse_listeners
from magicbyte.http.page_settings import PageSettings
from magicbyte.kit.kafka.client_settings import with_prefix
from magicbyte.kit.settings import SettingsError
from magicbyte.kit.settings.kinds import choice
from magicbyte.kit.settings.property_words import Takes
from magicbyte.kit.settings.server import ByteSize, Milliseconds, parts_of, place_before
from magicbyte.security.settings import LOG
from registry.decide.question import OFF, REFUSE, WARN
from registry.reference_names import ENCODER_SECRET, NOT_KEPT, OLD_NAMES, WITHOUT_EFFECT

log = logging.getLogger("magicbyte.registry.settings")


def _listeners(value: Any) -> list[Listener]:
    return parse_listeners(parts_of(value))


def _names(value: Any) -> list[str]:
    return list(parts_of(value))


def _urls(value: Any) -> list[str]:
    urls = list(parts_of(value))
    for url in urls:
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"not an http URL: {url!r}")
    return urls


_LEVEL = choice(*LEVELS, spell=str.upper)
_PROTOCOL = choice("http", "https", spell=str.lower)
_ERROR_CODE = choice("409", "40901", value_of=int)
_RULES_CHECK = choice(REFUSE, WARN, OFF, spell=str.lower)
_Urls = Annotated[list[str], BeforeValidator(_urls), Takes("URLs, with commas between")]
#: Beginnings of headers that authenticate clients; these headers must not go to other nodes.
_PRIVATE_HEADERS = ("authorization", "cookie", "magicbyte-")


class RegistrySettings(PageSettings):
    """All properties that the registry supports; the aliases are their names."""

    title = "Registry"

    listeners: Annotated[
        list[Listener],
        BeforeValidator(_listeners),
        Takes("addresses such as `http://0.0.0.0:8081`, with commas between", default="`http://127.0.0.1:8081`"),
    ] = Field(
        alias="listeners",
        description="The addresses to listen on (`--listen`).",
        default_factory=lambda: [Listener("http", "127.0.0.1", 8081)],
    )
    host_name: Annotated[str | None, Takes("a text", default="the host of the listener")] = Field(
        alias="host.name",
        description="The host name of this node for other nodes, and a name that `Host` may have.",
        default=None,
    )
    host_port: Annotated[int | None, Takes("a whole number", default="the port of the listener")] = Field(
        alias="host.port", description="The port of this node for other nodes.", default=None
    )
    #: memory:, sqlite:///FILE, postgresql://..., or kafka:
    storage: str = Field(
        alias="magicbyte.storage",
        description="Where the schemas are: `memory:`, `sqlite:///FILE`, `postgresql://...` or `kafka:` (`--storage`).",
        default="kafka:",
    )
    #: Whether to start on an SQLite database with a damaged write-ahead log, without what is behind the damage.
    accepts_damage: bool = Field(
        alias="magicbyte.storage.accept.damage",
        description="Whether the registry starts on an SQLite database whose write-ahead log is damaged, "
        "without what is behind the damage.",
        default=False,
    )
    #: The scheme of the listener that other nodes use.
    inter_instance_protocol: Annotated[
        str, AfterValidator(_PROTOCOL.convert), Takes(_PROTOCOL.words, schema=_PROTOCOL.schema)
    ] = Field(
        alias="inter.instance.protocol", description="The scheme of the listener that other nodes use.", default="http"
    )
    node_id: Annotated[str | None, Takes("a text", default="the machine's name and the node's URL")] = Field(
        alias="magicbyte.node.id",
        description="The name of this node, in its log lines and in the group of the nodes.",
        default=None,
    )
    workers: int = Field(
        alias="magicbyte.workers", description="Number of processes that serve requests (`--workers`).", default=1, ge=1
    )
    #: The number of a worker process, which shares the listeners' ports and has a port of its own for other nodes.
    worker: int | None = Field(
        alias="magicbyte.worker", description="The number of a worker process; the main process sets it.", default=None
    )

    bootstrap_servers: Annotated[str | None, Takes("`HOST:PORT`, with commas between")] = Field(
        alias="kafkastore.bootstrap.servers",
        description="The Kafka cluster that keeps the schemas (`--bootstrap-servers`).",
        default=None,
    )
    topic: str = Field(alias="kafkastore.topic", description="The topic of the schemas.", default="_schemas")
    topic_replication_factor: int = Field(
        alias="kafkastore.topic.replication.factor",
        description="The replicas of a new topic; fewer if there are fewer brokers.",
        default=3,
        ge=1,
    )
    topic_skip_validation: bool = Field(
        alias="kafkastore.topic.skip.validation",
        description="Whether an existing topic is accepted as it is, even if it has several partitions or is not "
        "compacted.",
        default=False,
    )
    init_timeout_ms: Milliseconds = Field(
        alias="kafkastore.init.timeout.ms",
        description="The longest time for reading the topic at the start.",
        default=60_000,
        gt=0,
    )
    #: Confluent's 500 ms is the most common cause of 50002 in the field.
    write_timeout_ms: Milliseconds = Field(
        alias="kafkastore.timeout.ms",
        description="The longest time for a write to the store (50002 after it). Confluent's 500 ms is the "
        "most common cause of 50002 in the field.",
        default=30_000,
        gt=0,
    )
    group_id: str = Field(
        alias="schema.registry.group.id",
        description="The group of the nodes, and the name of the resource `REGISTRY` in access rules.",
        default="schema-registry",
    )
    session_timeout_ms: Milliseconds = Field(
        alias="kafkagroup.session.timeout.ms",
        description="After this time without a sign of life, another node takes over.",
        default=6_000,
        gt=0,
    )
    leader_eligibility: bool = Field(
        alias="leader.eligibility", description="Whether this node may become the leader.", default=True
    )
    leader_connect_timeout_ms: Milliseconds = Field(
        alias="leader.connect.timeout.ms",
        description="The longest time for a connection to the leader.",
        default=60_000,
        gt=0,
    )
    leader_read_timeout_ms: Milliseconds = Field(
        alias="leader.read.timeout.ms", description="The longest time for the leader's answer.", default=60_000, gt=0
    )
    forwarded_headers: str = Field(
        alias="inter.instance.headers.whitelist",
        description="Further headers of a request that the leader gets.",
        default="",
    )
    #: The only nodes to which requests are forwarded; empty to trust any leader.
    instance_urls: _Urls = Field(
        alias="magicbyte.inter.instance.urls",
        description="The only nodes to which requests are forwarded; empty to trust any leader.",
        default_factory=list,
    )

    compatibility_level: Annotated[str, AfterValidator(_LEVEL.convert), Takes(_LEVEL.words, schema=_LEVEL.schema)] = (
        Field(alias="schema.compatibility.level", description="The level of subjects without one.", default="BACKWARD")
    )
    mode_mutability: bool = Field(alias="mode.mutability", description="Whether modes may be changed.", default=True)
    validate_fields: bool = Field(
        alias="schema.validate.fields",
        description="Whether names that are reserved for other things are refused, and Protobuf texts must "
        "import what they use.",
        default=False,
    )
    validate_new_schemas: bool = Field(
        alias="schema.validate.new.schemas",
        description="Whether new schemas are checked strictly: names and defaults of Avro, the links of Protobuf, JSON "
        "Schema by its metaschema.",
        default=True,
    )
    #: Refuse schemas whose references give one name two versions.
    strict_reference_versions: bool = Field(
        alias="schema.providers.reference.versions.strict",
        description="Whether schemas are refused whose references give one name two versions.",
        default=False,
    )
    reject_empty_subject: bool = Field(
        alias="schema.reject.empty.subject", description="Whether the empty subject is refused.", default=False
    )
    incompatible_error_code: Annotated[
        int, AfterValidator(_ERROR_CODE.convert), Takes(_ERROR_CODE.words, schema=_ERROR_CODE.schema)
    ] = Field(
        alias="magicbyte.incompatible.error.code",
        description="The error code of an incompatible schema; 40901 is that of newer servers.",
        default=409,
    )
    rules_check: Annotated[
        str, AfterValidator(_RULES_CHECK.convert), Takes(_RULES_CHECK.words, schema=_RULES_CHECK.schema)
    ] = Field(
        alias="magicbyte.rules.check",
        description="What is done with findings about [rules](contracts.md) of new schemas: refuse those that cannot "
        "be carried out (42210), log all of them, or do not check.",
        default=REFUSE,
    )
    rules_types: Annotated[list[str], BeforeValidator(_names), Takes("names, with commas between")] = Field(
        alias="magicbyte.rules.types",
        description="Types of rules and actions that your clients have executors for, besides the known ones.",
        default_factory=list,
    )
    schema_cache_size: int = Field(
        alias="schema.cache.size",
        description="Maximum number of parsed schemas in the cache, without long ones; see "
        "[limits](registry-api.md#limits).",
        default=1000,
        ge=0,
    )

    schema_search_default_limit: int = Field(
        alias="schema.search.default.limit",
        description="The length of a list of schemas without `limit`.",
        default=1000,
        ge=1,
    )
    schema_search_max_limit: int = Field(
        alias="schema.search.max.limit", description="The longest list of schemas.", default=1000, ge=1
    )
    #: The total length of the texts in an answer, for requests without a limit.
    schema_search_max_bytes: ByteSize = Field(
        alias="magicbyte.schema.search.max.bytes",
        description="The total length of the texts in an answer of `GET /schemas` without `limit`.",
        default=16 << 20,
        ge=1,
    )
    subject_search_default_limit: int = Field(
        alias="subject.search.default.limit",
        description="The length of a list of subjects without `limit`.",
        default=2**31 - 1,
        ge=1,
    )
    subject_search_max_limit: int = Field(
        alias="subject.search.max.limit", description="The longest list of subjects.", default=2**31 - 1, ge=1
    )
    version_search_default_limit: int = Field(
        alias="subject.version.search.default.limit",
        description="The length of a list of versions without `limit`.",
        default=2**31 - 1,
        ge=1,
    )
    version_search_max_limit: int = Field(
        alias="subject.version.search.max.limit", description="The longest list of versions.", default=2**31 - 1, ge=1
    )
    context_search_default_limit: int = Field(
        alias="context.search.default.limit",
        description="The length of a list of contexts without `limit`.",
        default=2**31 - 1,
        ge=1,
    )
    context_search_max_limit: int = Field(
        alias="context.search.max.limit", description="The longest list of contexts.", default=2**31 - 1, ge=1
    )

    max_body_bytes: ByteSize = Field(
        alias="size.limit.filter.max.request.body.size",
        description="The largest body of a request.",
        default=8 * 1024 * 1024,
        gt=0,
    )
    #: Whether an import may write another schema over a live version, as in the reference.
    imports_overwrite: bool = Field(
        alias="magicbyte.import.overwrite",
        description="Whether an import may write another schema over a live version, as in the reference; "
        "otherwise 42205.",
        default=True,
    )
    max_import_bytes: ByteSize = Field(
        alias="magicbyte.import.max.bytes", description="The largest body of `POST /import`.", default=1 << 30, gt=0
    )
    #: How many /events a principal may have open; an address, if nobody signs in.
    events_per_client: int = Field(
        alias="magicbyte.events.max.per.client",
        description="Maximum number of open `/events` of a principal; of an address, if nobody signs in.",
        default=256,
        ge=1,
    )
    #: The URLs to which changes are posted.
    webhook_urls: _Urls = Field(
        alias="magicbyte.webhook.urls",
        description="The URLs to which changes are posted.",
        default_factory=list,
        repr=False,
    )
    webhook_secret: Annotated[str | None, Takes("a secret")] = Field(
        alias="magicbyte.webhook.secret",
        description="The key of the HMAC-SHA256 with which these posts are signed.",
        default=None,
        repr=False,
    )
    confluent_metrics: bool = Field(
        alias="magicbyte.metrics.confluent.names",
        description="Whether there are [metrics under Confluent's names](metrics.md#confluents-names), too.",
        default=True,
    )
    request_timeout_ms: Milliseconds = Field(
        alias="request.timeout.ms",
        description="The longest time of a request, except `/events`, `/export` and `/import`.",
        default=600_000,
        gt=0,
    )
    #: Attributes of the deployment, for /v1/metadata/deployment.
    deployment_attributes: str = Field(
        alias="magicbyte.deployment.attributes",
        description="Attributes of the deployment, for `/v1/metadata/deployment`; commas between them.",
        default="",
    )

    @classmethod
    def from_properties(cls, properties: Mapping[str, str]) -> Self:
        """Check and convert the properties; warns of older names.

        Raises:
            SettingsError: A value is wrong; the text names the property.
        """
        # The value is a secret of any form, so that no value switches it off.
        if properties.get(ENCODER_SECRET):
            raise SettingsError(f"{ENCODER_SECRET}: {NOT_KEPT[ENCODER_SECRET]}")
        renamed = {name: value for name, value in properties.items() if name not in OLD_NAMES}
        for old, new in OLD_NAMES.items():
            if old in properties:
                log.warning(
                    "%sproperty %s is called %s now",
                    place_before(properties[old]),
                    old,
                    new,
                    extra={"event": "property_renamed", "property": old, "new_name": new},
                )
                renamed.setdefault(new, properties[old])
        return super().from_properties(renamed)

    @classmethod
    def older_names(cls) -> Mapping[str, str]:
        """Older names of properties -> their names now."""
        return {**super().older_names(), **OLD_NAMES}

    @classmethod
    def without_effect(cls) -> Mapping[str, str]:
        """The reference's properties that have no effect here, and why."""
        return {**super().without_effect(), **WITHOUT_EFFECT}

    @classmethod
    def not_kept(cls) -> Mapping[str, str]:
        """Properties that ask for a protection this server lacks -> the text of the refusal."""
        return {**super().not_kept(), **NOT_KEPT}

    @classmethod
    def passed_on(cls) -> Mapping[str, str]:
        """Kafka client properties and topic configs are passed on."""
        return {
            "kafkastore.topic.config.": "a new topic of the schemas, as its configs",
            "kafkastore.": "the Kafka client that reads and writes the topic of the schemas",
        }

    def security_conflicts(self, listeners: Mapping[str, bool]) -> Iterator[str]:
        """Conflicts of the security settings with each other, with the listeners and with the storage."""
        yield from super().security_conflicts(listeners)
        for name in map(str.strip, self.forwarded_headers.lower().split(",")):
            if name.startswith(_PRIVATE_HEADERS):
                yield f"inter.instance.headers.whitelist: {name} never leaves the node it came to"
        if not self.is_open and self.storage.startswith("kafka:") and self.instance_secret is None:
            yield (
                "magicbyte.inter.instance.secret: nodes that forward writes to each other need one secret of at least"
                " 32 characters, to prove who sent a request"
            )
        secret_in_clear = self.inter_instance_protocol == "http" and not self.plaintext_credentials
        if not self.is_open and self.storage.startswith("kafka:") and listeners.get("http") and secret_in_clear:
            yield (
                "inter.instance.protocol: nodes would forward requests in the clear; use https, or set"
                " magicbyte.allow.plaintext.credentials=true"
            )

    @field_validator("bootstrap_servers")
    @classmethod
    def _without_scheme(cls, value: str | None) -> str | None:
        """Remove the scheme: Confluent's form is PLAINTEXT://host:port."""
        if value is None:
            return None
        return ",".join(server.strip().rpartition("://")[2] for server in value.split(",") if server.strip())

    @property
    def rule_store(self) -> str:
        """The store of the rules; by default the log."""
        return super().rule_store or (LOG if self.has_rules else "")

    @property
    def keeps_rules(self) -> bool:
        """Whether the rules in force are in the log."""
        return self.rule_store == LOG

    @property
    def host_names(self) -> list[str]:
        """The names of this server in the settings."""
        return [*super().host_names, *([self.host_name] if self.host_name else [])]

    @property
    def worker_port(self) -> int:
        """The port of this worker for other nodes."""
        return self.listeners[0].port + 1000 + (self.worker or 0)

    @property
    def kafka_client_properties(self) -> dict[str, str]:
        """The properties to pass on to Kafka clients, by Java's names."""
        aliases = {field.alias for field in type(self).model_fields.values()}
        others = {name: value for name, value in self.properties.items() if name not in aliases}
        return {
            name: value for name, value in with_prefix(others, "kafkastore.").items() if not name.startswith("topic.")
        }

    @property
    def topic_configs(self) -> dict[str, str]:
        """The configs of a new schemas topic."""
        return with_prefix(self.properties, "kafkastore.topic.config.")

    @property
    def advertised_url(self) -> str:
        """The URL of this node for other nodes."""
        matching = [listener for listener in self.listeners if listener.scheme == self.inter_instance_protocol]
        listener = (matching or self.listeners)[0]
        if self.worker is not None:
            # The port follows from the listener's, so that a restarted worker has the same URL.
            return Listener(listener.scheme, self.host_name or listener.host, self.worker_port).url
        host = self.host_name or listener.host
        return Listener(listener.scheme, host, self.host_port or listener.port).url
