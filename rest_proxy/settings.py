"""The REST proxy's settings under kafka-rest's property names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal, NamedTuple, Self
from urllib.parse import urlsplit

from msgspec.structs import replace
from pydantic import AfterValidator, BeforeValidator, Field

from magicbyte.http.settings import HttpSettings
from magicbyte.kit.kafka import client_settings as kafka
from magicbyte.kit.kafka.statistics import STATISTICS
from magicbyte.kit.secret import hide_user_info
from magicbyte.kit.settings import SettingsError
from magicbyte.kit.settings.kinds import Scalar, choice
from magicbyte.kit.settings.patterns import java_classes
from magicbyte.kit.settings.property_words import BYTES_A_SECOND, Takes
from magicbyte.kit.settings.server import ByteSize, Milliseconds
from magicbyte.security.settings import LOG
from rest_proxy.access.endpoints import EndpointLists, parse_endpoints
from rest_proxy.reference_names import WITHOUT_EFFECT
from rest_proxy.rules.settings import RuleProperties
from serdes.client.config import client_options
from serdes.error import ConfigError
from serdes.message.subject import STRATEGIES, Naming

#: How long Java's producer retries.
_JAVA_DELIVERY: kafka.Config = {"delivery.timeout.ms": 120000}
#: librdkafka's limits are off, because `producer.buffer.memory` is checked before a record is queued.
_UNBOUNDED_QUEUE: kafka.Config = {"queue.buffering.max.messages": 0, "queue.buffering.max.kbytes": 2147483647}
#: Java's strategies by class name, without the package.
_STRATEGIES = {name: strategy for name, strategy in STRATEGIES.items() if name.endswith("Strategy")}
_ByteRate = Annotated[int, Takes(BYTES_A_SECOND)]
#: Java's classes that write frames, without the package -> whether they write them into a header.
_ID_SERIALIZERS = {"PrefixSchemaIdSerializer": False, "HeaderSchemaIdSerializer": True}


def _class_name(names: Iterable[str]) -> Scalar:
    """The name of one of Java's classes, with or without its package."""
    kind = choice(*names, spell=lambda value: str(value).strip().rpartition(".")[2])
    return replace(kind, schema=java_classes(names))


_STRATEGY = _class_name(_STRATEGIES)
_ID_SERIALIZER = _class_name(_ID_SERIALIZERS)
_StrategyName = Annotated[str, AfterValidator(_STRATEGY.convert), Takes(_STRATEGY.words, schema=_STRATEGY.schema)]
_IdSerializerName = Annotated[
    str, AfterValidator(_ID_SERIALIZER.convert), Takes(_ID_SERIALIZER.words, schema=_ID_SERIALIZER.schema)
]

#: The paths of v1 and v2 except the root, which shows that the proxy runs.
_PATHS_OF_V2 = ("/brokers", "/topics", "/consumers/")


class FramePlaces(NamedTuple):
    """Whether keys, and whether values, have their frames in a header if a request does not say it."""

    key: bool = False
    value: bool = False


def _pattern(value: str) -> str:
    try:
        re.compile(value)
    except re.error as error:
        raise ValueError(f"{value!r} is no regular expression: {error}") from None
    return value


def _costs(value: Any) -> Mapping[str, int]:
    """Read `rate.limit.costs`: the names of endpoints and the permits that a request of each takes."""
    if isinstance(value, Mapping):
        return value
    costs: dict[str, int] = {}
    for entry in filter(None, (part.strip() for part in str(value).split(","))):
        name, _, cost = entry.partition("=")
        if not cost.strip().isdigit():
            raise ValueError(f"{entry} is not a name and a number of permits, such as api.v3.topics.list=5")
        costs[name.strip()] = int(cost)
    return costs


class RestProxySettings(RuleProperties, HttpSettings):
    """Settings of one proxy process; sizes in bytes, times in milliseconds, as the names say."""

    title = "REST proxy"

    bootstrap_servers: Annotated[str, Takes("`HOST:PORT`, with commas between")] = Field(
        alias="bootstrap.servers", description="The Kafka cluster (`--bootstrap-servers`).", min_length=1
    )
    listeners: Annotated[str, Takes("addresses, with commas between", default="`http://0.0.0.0:`, and `port`")] = Field(
        "", alias="listeners", description="The addresses to listen on (`--listen`)."
    )
    port: int = Field(8082, alias="port", description="The port, if `listeners` is not set.", ge=1, le=65535)
    schema_registry_url: Annotated[str, Takes("URLs, with commas between")] = Field(
        "http://localhost:8081",
        alias="schema.registry.url",
        description="The registry (`--schema-registry-url`); several URLs with commas between.",
    )
    key_naming: _StrategyName = Field(
        "TopicNameStrategy",
        alias="schema.registry.key.subject.name.strategy",
        description="How subjects of keys are named: Java's class, with or without its package.",
    )
    value_naming: _StrategyName = Field(
        "TopicNameStrategy",
        alias="schema.registry.value.subject.name.strategy",
        description="How subjects of values are named: Java's class, with or without its package.",
    )
    key_id_serializer: _IdSerializerName = Field(
        "PrefixSchemaIdSerializer",
        alias="schema.registry.key.schema.id.serializer",
        description="As `schema.registry.value.schema.id.serializer`, for keys.",
    )
    value_id_serializer: _IdSerializerName = Field(
        "PrefixSchemaIdSerializer",
        alias="schema.registry.value.schema.id.serializer",
        description="Whether values have their schema's id before the data, or its guid in a header: Java's class, "
        "with or without its package. A request may say it, too.",
    )
    id: str = Field("", alias="id", description="A part of the names of instances whose clients choose none.")
    host_name: str = Field(
        "", alias="host.name", description="The host of URLs in answers, and a name that `Host` may have."
    )
    advertised_listeners: Annotated[str, Takes("URLs, with commas between")] = Field(
        "",
        alias="advertised.listeners",
        description="URLs; the first with the scheme of a request is the beginning of URLs in its answer.",
    )
    null_body_is_empty_record: bool = Field(
        False,
        alias="null.request.body.always.publishes.empty.record",
        description="Whether null is a tombstone even if the schema accepts null.",
    )
    debug: bool = Field(False, alias="debug", description="Whether everything is logged.")
    shutdown_graceful_ms: Milliseconds = Field(
        5000,
        alias="shutdown.graceful.ms",
        description="How long the proxy waits for requests, and for records without a delivery report, when it stops.",
        ge=0,
    )

    consumer_threads: int = Field(
        50,
        alias="consumer.threads",
        description="How many threads make calls that block; below 1: 16 for each processor.",
        ge=-1,
    )
    consumer_request_timeout_ms: Milliseconds = Field(
        1000,
        alias="consumer.request.timeout.ms",
        description="How long a read waits for records, if it does not say it itself.",
        ge=1,
    )
    consumer_request_max_bytes: ByteSize = Field(
        67108864, alias="consumer.request.max.bytes", description="The most bytes of one read.", ge=1
    )
    consumer_instance_timeout_ms: Milliseconds = Field(
        300000,
        alias="consumer.instance.timeout.ms",
        description="After this time without a request, an instance is closed.",
        ge=1,
    )
    fetch_min_bytes: ByteSize = Field(
        -1,
        alias="fetch.min.bytes",
        description="The bytes for which a read waits within its timeout; below 1, a read returns as soon as "
        "there is a record.",
        ge=-1,
        le=10000000,
    )
    simple_pool_size: int = Field(
        25,
        alias="simpleconsumer.pool.size.max",
        description="How many reads without an instance run at once, each with a connection.",
        ge=1,
    )
    simple_pool_timeout_ms: Milliseconds = Field(
        1000, alias="simpleconsumer.pool.timeout.ms", description="How long such a read waits for its turn.", ge=0
    )
    produce_rate_limit: bool = Field(
        False, alias="api.v3.produce.rate.limit.enabled", description="Whether the rates of v3's produce are limited."
    )
    produce_rate_requests: int = Field(
        10000,
        alias="api.v3.produce.rate.limit.max.requests.per.sec",
        description="The most records a second.",
        ge=1,
    )
    produce_rate_global_requests: int = Field(
        10000,
        alias="api.v3.produce.rate.limit.max.requests.global.per.sec",
        description="The most records a second, too: the lower one of both counts.",
        ge=1,
    )
    produce_rate_bytes: _ByteRate = Field(
        10000000,
        alias="api.v3.produce.rate.limit.max.bytes.per.sec",
        description="The most bytes a second.",
        ge=1,
    )
    produce_rate_global_bytes: _ByteRate = Field(
        10000000,
        alias="api.v3.produce.rate.limit.max.bytes.global.per.sec",
        description="The most bytes a second, too: the lower one of both counts.",
        ge=1,
    )
    batch_max_entries: int = Field(
        10, alias="api.v3.produce.batch.maximum.entries", description="The most records of a batch.", ge=1, le=50
    )
    produce_max_bytes: ByteSize = Field(
        0,
        alias="api.v3.produce.request.size.limit.max.bytes",
        description="The largest record of v3's produce; 0: the value of `request.max.bytes`.",
        ge=0,
    )
    stream_max_ms: Milliseconds = Field(
        86400000, alias="streaming.connection.max.duration.ms", description="The longest stream of records.", ge=1
    )
    stream_grace_ms: Milliseconds = Field(
        500,
        alias="streaming.connection.max.duration.grace.period.ms",
        description="How much longer the reports of its last records may take.",
        ge=0,
    )

    #: Ours: settings that kafka-rest does not have.
    produce_timeout_ms: Milliseconds = Field(
        30000,
        alias="produce.timeout.ms",
        description="The longest time for an answer to a produce request; the most that its `timeout` may be.",
        ge=1,
    )
    buffer_memory: ByteSize = Field(
        33554432,
        alias="producer.buffer.memory",
        description="The most bytes of records that wait for the brokers; after that 429.",
        ge=1,
    )
    max_record_bytes: ByteSize = Field(
        1048576, alias="producer.max.request.size", description="The largest record; a larger one is 413.", ge=1
    )
    acks: Literal["0", "1", "-1", "all"] = Field(
        "all",
        alias="producer.acks",
        description="The acknowledgements of produced records; with `all`, the producer is idempotent.",
    )
    request_max_bytes: ByteSize = Field(
        16777216, alias="request.max.bytes", description="The largest body of a request.", ge=1
    )
    consumer_instances_max: int = Field(
        0,
        alias="consumer.instances.max",
        description="The most instances; 0: as many as fit into the limit of open files.",
        ge=0,
    )
    consumer_instances_per_client: int = Field(
        0,
        alias="magicbyte.consumer.instances.max.per.client",
        description="The most instances of a principal, or of an address if nobody signs in; 0: "
        "`consumer.instances.max`, or half of what fits.",
        ge=0,
    )
    consumer_buffer_bytes: ByteSize = Field(
        8388608, alias="consumer.buffer.bytes", description="The most bytes that an instance buffers.", ge=1
    )
    trace_headers: bool = Field(
        False,
        alias="trace.kafka.headers",
        description="Whether produced records get the header `traceparent` of the request that produces them; see"
        " [traces](traces.md).",
    )
    avro_unions: Literal["tagged", "plain"] = Field(
        "tagged", alias="avro.unions", description="Whether Avro unions in JSON have tags."
    )
    avro_logical_types: Literal["text", "stored"] = Field(
        "text",
        alias="avro.logical.types",
        description='Whether decimals, dates and times are texts such as `"12.50"`, or as they are stored; '
        "see [JSON values](json-values.md).",
    )
    peers: Annotated[str, Takes("URLs, with commas between")] = Field(
        "",
        alias="peers",
        description="The base URLs of all nodes, the same on each, with commas between; see [where it "
        "runs](rest-proxy.md#what-is-different-from-the-reference-and-why).",
    )
    peers_self: Annotated[str, Takes("a URL")] = Field(
        "", alias="peers.self", description="The URL of this node among `peers`."
    )

    v2_enabled: bool = Field(True, alias="api.v2.enable", description="Whether v1 and v2 are served.")
    v3_enabled: bool = Field(True, alias="api.v3.enable", description="Whether v3 is served.")
    crn_authority: str = Field(
        "", alias="confluent.resource.name.authority", description="The authority in resource names."
    )
    rate_limit_enabled: bool = Field(
        False, alias="rate.limit.enable", description="Whether the rates of requests are limited."
    )
    rate_limit_permits: int = Field(
        50, alias="rate.limit.permits.per.sec", description="The permits of all requests in a second.", ge=1
    )
    rate_limit_cluster_permits: int = Field(
        50,
        alias="rate.limit.per.cluster.permits.per.sec",
        description="The permits of the requests of the cluster in a second.",
        ge=1,
    )
    rate_limit_timeout_ms: Milliseconds = Field(
        0, alias="rate.limit.timeout.ms", description="How long a request waits for a permit.", ge=0
    )
    rate_limit_default_cost: int = Field(
        1, alias="rate.limit.default.cost", description="The permits that a request takes; 0 is free.", ge=0
    )
    rate_limit_costs: Annotated[
        Mapping[str, int], BeforeValidator(_costs), Takes("`ENDPOINT=PERMITS`, with commas between", default="none")
    ] = Field(
        {},
        alias="rate.limit.costs",
        description="The permits of single endpoints, such as `api.v3.topics.list=5`; 0 is free.",
    )
    metrics_topics: Annotated[str, AfterValidator(_pattern), Takes("a regular expression", default="none")] = Field(
        "",
        alias="magicbyte.metrics.topics",
        description="The topics whose names are a label of the [metrics of records](metrics.md#rest-proxy): those that"
        " match as a whole, at most 200. A topic is several series.",
    )
    allowed_endpoints: Annotated[
        frozenset[str], BeforeValidator(parse_endpoints), Takes("names, with commas between")
    ] = Field(
        frozenset(),
        alias="api.endpoints.allowlist",
        description="The only endpoints that are served; see [their names](rest-proxy.md#settings).",
    )
    blocked_endpoints: Annotated[
        frozenset[str], BeforeValidator(parse_endpoints), Takes("names, with commas between")
    ] = Field(frozenset(), alias="api.endpoints.blocklist", description="Endpoints that are not served.")

    @property
    def node_name(self) -> str:
        """The name of this process among the nodes, in logs and traces."""
        if self.peers_self or self.id:
            return self.peers_self or self.id
        listener = self.listeners.partition(",")[0].strip() or f"http://0.0.0.0:{self.port}"
        return hide_user_info(listener)

    @classmethod
    def without_effect(cls) -> Mapping[str, str]:
        """Properties of kafka-rest that have no effect here -> the reason."""
        return {**super().without_effect(), **WITHOUT_EFFECT}

    @classmethod
    def not_kept(cls) -> Mapping[str, str]:
        """Properties that ask for a protection this server lacks -> the text of the refusal."""
        aliases = cls._aliases()
        return {name: reason for name, reason in super().not_kept().items() if name not in aliases}

    @classmethod
    def passed_on(cls) -> Mapping[str, str]:
        """Prefixes of properties that may have any name, because they are passed on to the clients."""
        return {
            "client.": "all Kafka clients of the proxy",
            "producer.": "its producers; this overrides `client.`",
            "consumer.": "its consumers; this overrides `client.`",
            "admin.": "its admin client; this overrides `client.`",
            "schema.registry.": "its client of the schema registry",
            "rule.executors.": "the executors of rules: `<rule name, _TYPE_ or _default_>`, then `.onSuccess`,"
            " `.onFailure`, `.disabled` or `.param.<key>`",
            "rule.actions.": "the actions of rules: `<rule name, _TYPE_ or _default_>.param.<key>`",
        }

    @classmethod
    def from_properties(cls, properties: Mapping[str, str]) -> Self:
        """Check and convert the properties.

        Raises:
            SettingsError: A value is wrong or `bootstrap.servers` is missing; the text names the property.
        """
        if not properties.get("bootstrap.servers", "").strip():
            raise SettingsError("bootstrap.servers: give the address of a Kafka broker, such as localhost:9092")
        settings = super().from_properties(properties)
        settings.rules(properties)
        if not settings.listeners.strip():
            settings = settings.model_copy(update={"listeners": f"http://0.0.0.0:{settings.port}"})
        settings = settings.model_copy(update={"peers_self": settings.peers_self.strip().rstrip("/")})
        if settings.peers_self and settings.peers_self not in settings.peer_urls:
            raise SettingsError(f"peers.self: {settings.peers_self} is not among peers ({settings.peers})")
        if settings.peer_urls and not settings.peers_self:
            raise SettingsError("peers.self: say which of the peers this node is")
        idle = cls.without_effect()
        given = {name: str(value) for name, value in properties.items() if name not in idle}
        return settings.model_copy(update={"properties": given})

    def security_conflicts(self, listeners: Mapping[str, bool]) -> Iterator[str]:
        """Conflicts of the security settings with each other, with the listeners and with the peers."""
        yield from super().security_conflicts(listeners)
        if self.rule_store == LOG and not self.schema_registry_url.strip():
            yield "magicbyte.acl.store: log is the registry's: set schema.registry.url"
        if not self.is_open and self.peer_urls and self.instance_secret is None:
            yield (
                "magicbyte.inter.instance.secret: nodes that pass requests on to each other need one secret of at least"
                " 32 characters, to prove who sent a request"
            )

    def serves(self, path: str) -> bool:
        """Tell whether the version of the API that a path belongs to is enabled."""
        if path.startswith("/v3/"):
            return self.v3_enabled
        return self.v2_enabled or not path.startswith(_PATHS_OF_V2)

    def naming(self) -> Naming:
        """The subject name strategies."""
        return Naming(_STRATEGIES[self.key_naming], _STRATEGIES[self.value_naming])

    def frame_places(self) -> FramePlaces:
        """The places for the frames of keys and values."""
        return FramePlaces(_ID_SERIALIZERS[self.key_id_serializer], _ID_SERIALIZERS[self.value_id_serializer])

    @property
    def endpoint_lists(self) -> EndpointLists:
        """The endpoints that are served."""
        return EndpointLists(self.allowed_endpoints, self.blocked_endpoints)

    @property
    def host_names(self) -> list[str]:
        """The names of this server in the settings."""
        advertised = (urlsplit(listener.strip()).hostname for listener in self.advertised_listeners.split(","))
        return [*super().host_names, *filter(None, (self.host_name, *advertised))]

    @property
    def peer_urls(self) -> tuple[str, ...]:
        """The base URLs of all nodes of this cluster of proxies, including this node; empty for a single node."""
        return tuple(url.strip().rstrip("/") for url in self.peers.split(",") if url.strip())

    def _statistics(self, role: str) -> kafka.Config:
        """The properties with which a client of a role reports its statistics, if the settings ask for them."""
        return STATISTICS.of_role(role) if self.librdkafka_metrics else {}

    def producer_config(self, acks: str) -> kafka.Config:
        """Librdkafka's configuration of the producer for these acks; idempotent if they are `all`."""
        idempotent = {} if acks == "all" else {"enable.idempotence": False}
        return {
            **kafka.PRODUCER_DEFAULTS,
            **_JAVA_DELIVERY,
            **kafka.client_config(self._passed_on("producer."), role="producer"),
            **_UNBOUNDED_QUEUE,
            **idempotent,
            **self._statistics("producer"),
            "message.max.bytes": self.max_record_bytes,
            "acks": acks,
        }

    def consumer_config(self) -> kafka.Config:
        """Librdkafka's base configuration of consumers."""
        client = kafka.client_config(self._passed_on("consumer."), role="consumer")
        return {**kafka.CONSUMER_DEFAULTS, **client}

    def instance_config(self) -> kafka.Config:
        """Librdkafka's base configuration of consumer instances."""
        return {**self.consumer_config(), **self._statistics("consumer")}

    def admin_config(self) -> kafka.Config:
        """Librdkafka's configuration of the admin client."""
        return {**kafka.COMMON_DEFAULTS, **kafka.client_config(self._passed_on("admin."), role="admin")}

    def registry_properties(self) -> dict[str, str]:
        """The properties to pass on to the Schema Registry client."""
        aliases = self._aliases()
        return {
            name: value
            for name, value in self.properties.items()
            if name.startswith("schema.registry.") and name not in aliases
        }

    def registry_client_options(self) -> dict[str, Any]:
        """The arguments of the Schema Registry client.

        Raises:
            SettingsError: A property under `schema.registry.` is invalid; the text names it.
        """
        settings = {"url": self.schema_registry_url, **self.registry_properties()}
        try:
            # The command has resolved the placeholders of all properties.
            options = client_options(settings, are_resolved=True)
        except ConfigError as error:
            raise SettingsError(f"schema.registry.{error}") from None
        # Only a proxy in the settings may see the credentials of this server.
        return {**options, "trust_env": False}

    def _passed_on(self, prefix: str) -> dict[str, str]:
        aliases = self._aliases()
        others = {name: value for name, value in self.properties.items() if name not in aliases}
        return {"bootstrap.servers": self.bootstrap_servers, **kafka.with_prefix(others, "client.", prefix)}

    @classmethod
    def _aliases(cls) -> set[str]:
        return {field.alias or name for name, field in cls.model_fields.items()}
