"""The registry's settings, by Confluent's property names."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, field_validator

from compat.level import LEVELS
from magicbyte.http.page_settings import PageSettings
from magicbyte.http.server import Listener, parse_listener
from magicbyte.kit.kafka.client_settings import with_prefix
from magicbyte.kit.settings import SettingsError
from magicbyte.kit.settings.kinds import choice
from magicbyte.kit.settings.server import parts_of
from magicbyte.security.settings import LOG

log = logging.getLogger("magicbyte.registry.settings")


def _listeners(value: Any) -> list[Listener]:
    return list(map(parse_listener, parts_of(value)))


def _urls(value: Any) -> list[str]:
    urls = list(parts_of(value))
    for url in urls:
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"not an http URL: {url!r}")
    return urls


LOG_LEVELS = ("debug", "info", "warning", "error", "critical")
_LEVEL = AfterValidator(choice(*LEVELS, spell=str.upper).convert)
_PROTOCOL = AfterValidator(choice("http", "https", spell=str.lower).convert)
_LOG_LEVEL = AfterValidator(choice(*LOG_LEVELS, spell=str.lower).convert)
_ERROR_CODE = AfterValidator(choice("409", "40901", value_of=int).convert)
#: A property's name in older servers -> its name now.
_OLD_NAMES = {
    "master.eligibility": "leader.eligibility",
    "avro.compatibility.level": "schema.compatibility.level",
    "schema.registry.inter.instance.protocol": "inter.instance.protocol",
    "kafkastore.topic.request.timeout.ms": "kafkastore.timeout.ms",
}
#: The reference's properties that have no effect here, and why.
_WITHOUT_EFFECT = {
    "kafkastore.write.max.retries": "a write that another one overtakes is always decided again",
    "kafkastore.update.handlers": "there are no plug-ins; follow /events or set magicbyte.webhook.urls",
    "kafkagroup.heartbeat.interval.ms": "it follows from kafkagroup.session.timeout.ms",
    "kafkagroup.rebalance.timeout.ms": "it follows from kafkagroup.session.timeout.ms",
    "leader.election.delay": "a node takes over without waiting for others",
    "leader.election.sticky": "the leader always stays leader as long as it lives",
    "inter.instance.listener.name": "listeners have no names; inter.instance.protocol chooses one",
    "schema.cache.expiry.secs": "what is remembered of a schema never changes",
    "schema.canonicalize.on.consume": "texts are answered as they are stored",
    "enable.store.health.check": "/health/ready always asks the store",
    "size.limit.filter.enabled": "the limit always holds",
    "schema.providers.json.fetch.remote.schemas": "remote schemas are never fetched",
    "debug": "see magicbyte.log.level",
}
#: Beginnings of headers that authenticate clients; these headers must not go to other nodes.
_PRIVATE_HEADERS = ("authorization", "cookie", "magicbyte-")
#: This property promises that secrets are encrypted in the log. A warning would come too late, so it is refused.
_ENCODER_SECRET = "metadata.encoder.secret"  # noqa: S105  a property's name


class RegistrySettings(PageSettings):
    """All properties that the registry supports; the aliases are their names."""

    listeners: Annotated[list[Listener], BeforeValidator(_listeners)] = Field(
        alias="listeners", default_factory=lambda: [Listener("http", "127.0.0.1", 8081)]
    )
    host_name: str | None = Field(alias="host.name", default=None)
    host_port: int | None = Field(alias="host.port", default=None)
    #: memory:, sqlite:///FILE, postgresql://..., or kafka:
    storage: str = Field(alias="magicbyte.storage", default="kafka:")
    #: Whether to start on an SQLite database with a damaged write-ahead log, without what is behind the damage.
    accepts_damage: bool = Field(alias="magicbyte.storage.accept.damage", default=False)
    #: The scheme of the listener that other nodes use.
    inter_instance_protocol: Annotated[str, _PROTOCOL] = Field(alias="inter.instance.protocol", default="http")
    node_id: str | None = Field(alias="magicbyte.node.id", default=None)
    workers: int = Field(alias="magicbyte.workers", default=1, ge=1)
    #: The number of a worker process, which shares the listeners' ports and has a port of its own for other nodes.
    worker: int | None = Field(alias="magicbyte.worker", default=None)

    bootstrap_servers: str | None = Field(alias="kafkastore.bootstrap.servers", default=None)
    topic: str = Field(alias="kafkastore.topic", default="_schemas")
    topic_replication_factor: int = Field(alias="kafkastore.topic.replication.factor", default=3, ge=1)
    topic_skip_validation: bool = Field(alias="kafkastore.topic.skip.validation", default=False)
    init_timeout_ms: int = Field(alias="kafkastore.init.timeout.ms", default=60_000, gt=0)
    #: Confluent's 500 ms is the most common cause of 50002 in the field.
    write_timeout_ms: int = Field(alias="kafkastore.timeout.ms", default=30_000, gt=0)
    group_id: str = Field(alias="schema.registry.group.id", default="schema-registry")
    session_timeout_ms: int = Field(alias="kafkagroup.session.timeout.ms", default=6_000, gt=0)
    leader_eligibility: bool = Field(alias="leader.eligibility", default=True)
    leader_connect_timeout_ms: int = Field(alias="leader.connect.timeout.ms", default=60_000, gt=0)
    leader_read_timeout_ms: int = Field(alias="leader.read.timeout.ms", default=60_000, gt=0)
    forwarded_headers: str = Field(alias="inter.instance.headers.whitelist", default="")
    #: The only nodes to which requests are forwarded; empty to trust any leader.
    instance_urls: Annotated[list[str], BeforeValidator(_urls)] = Field(
        alias="magicbyte.inter.instance.urls", default_factory=list
    )

    compatibility_level: Annotated[str, _LEVEL] = Field(alias="schema.compatibility.level", default="BACKWARD")
    mode_mutability: bool = Field(alias="mode.mutability", default=True)
    validate_fields: bool = Field(alias="schema.validate.fields", default=False)
    validate_new_schemas: bool = Field(alias="schema.validate.new.schemas", default=True)
    #: Refuse schemas whose references give one name two versions.
    strict_reference_versions: bool = Field(alias="schema.providers.reference.versions.strict", default=False)
    reject_empty_subject: bool = Field(alias="schema.reject.empty.subject", default=False)
    incompatible_error_code: Annotated[int, _ERROR_CODE] = Field(alias="magicbyte.incompatible.error.code", default=409)
    schema_cache_size: int = Field(alias="schema.cache.size", default=1000, ge=0)

    schema_search_default_limit: int = Field(alias="schema.search.default.limit", default=1000, ge=1)
    schema_search_max_limit: int = Field(alias="schema.search.max.limit", default=1000, ge=1)
    #: The total length of the texts in an answer, for requests without a limit.
    schema_search_max_bytes: int = Field(alias="magicbyte.schema.search.max.bytes", default=16 << 20, ge=1)
    subject_search_default_limit: int = Field(alias="subject.search.default.limit", default=2**31 - 1, ge=1)
    subject_search_max_limit: int = Field(alias="subject.search.max.limit", default=2**31 - 1, ge=1)
    version_search_default_limit: int = Field(alias="subject.version.search.default.limit", default=2**31 - 1, ge=1)
    version_search_max_limit: int = Field(alias="subject.version.search.max.limit", default=2**31 - 1, ge=1)
    context_search_default_limit: int = Field(alias="context.search.default.limit", default=2**31 - 1, ge=1)
    context_search_max_limit: int = Field(alias="context.search.max.limit", default=2**31 - 1, ge=1)

    max_body_bytes: int = Field(alias="size.limit.filter.max.request.body.size", default=8 * 1024 * 1024, gt=0)
    #: Whether an import may write another schema over a live version, as in the reference.
    imports_overwrite: bool = Field(alias="magicbyte.import.overwrite", default=True)
    max_import_bytes: int = Field(alias="magicbyte.import.max.bytes", default=1 << 30, gt=0)
    #: How many /events a principal may have open; an address, if nobody signs in.
    events_per_client: int = Field(alias="magicbyte.events.max.per.client", default=256, ge=1)
    #: The URLs to which changes are posted.
    webhook_urls: Annotated[list[str], BeforeValidator(_urls)] = Field(
        alias="magicbyte.webhook.urls", default_factory=list, repr=False
    )
    webhook_secret: str | None = Field(alias="magicbyte.webhook.secret", default=None, repr=False)
    request_timeout_ms: int = Field(alias="request.timeout.ms", default=600_000, gt=0)
    #: Attributes of the deployment, for /v1/metadata/deployment.
    deployment_attributes: str = Field(alias="magicbyte.deployment.attributes", default="")
    log_level: Annotated[str, _LOG_LEVEL] = Field(alias="magicbyte.log.level", default="info")

    @classmethod
    def from_properties(cls, properties: Mapping[str, str]) -> Self:
        """Check and convert the properties; warns of older names.

        Raises:
            SettingsError: A value is wrong; the text names the property.
        """
        if properties.get(_ENCODER_SECRET):
            raise SettingsError(
                f"{_ENCODER_SECRET}: sensitive metadata can't be encrypted here; without this property it is stored as "
                "it is sent"
            )
        renamed = {name: value for name, value in properties.items() if name not in _OLD_NAMES}
        for old, new in _OLD_NAMES.items():
            if old in properties:
                log.warning("property %s is called %s now", old, new)
                renamed.setdefault(new, properties[old])
        return super().from_properties(renamed)

    @classmethod
    def without_effect(cls) -> Mapping[str, str]:
        """The reference's properties that have no effect here, and why."""
        return {**super().without_effect(), **_WITHOUT_EFFECT}

    @classmethod
    def open_prefixes(cls) -> tuple[str, ...]:
        """Kafka client properties and topic configs are passed on."""
        return ("kafkastore.", "magicbyte.resource.")

    def check_security(self, listeners: Mapping[str, bool]) -> None:
        """Check that the security settings fit together, and fit the listeners and the storage.

        Raises:
            SettingsError: They do not; the text names a property and a remedy.
        """
        super().check_security(listeners)
        for name in map(str.strip, self.forwarded_headers.lower().split(",")):
            if name.startswith(_PRIVATE_HEADERS):
                raise SettingsError(f"inter.instance.headers.whitelist: {name} never leaves the node it came to")
        if not self.is_open and self.storage.startswith("kafka:") and self.instance_secret is None:
            raise SettingsError(
                "magicbyte.inter.instance.secret: nodes that forward writes to each other need one secret of at least"
                " 32 characters, to prove who sent a request"
            )
        secret_in_clear = self.inter_instance_protocol == "http" and not self.plaintext_credentials
        if not self.is_open and self.storage.startswith("kafka:") and listeners.get("http") and secret_in_clear:
            raise SettingsError(
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
