"""The REST proxy's properties: their names, values, defaults and descriptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from magicbyte.http.settings import HttpSettings
from magicbyte.kit.settings.property_words import Takes
from magicbyte.kit.settings.server import ByteSize, Milliseconds
from rest_proxy.rules.settings import RuleProperties
from rest_proxy.settings.reference_names import WITHOUT_EFFECT
from rest_proxy.settings.values import (
    ByteRate,
    EndpointCosts,
    EndpointNames,
    IdSerializerName,
    RegularExpression,
    StrategyName,
)


class RestProxyProperties(RuleProperties, HttpSettings):
    """The table of properties: sizes in bytes, times in milliseconds, as the names say."""

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
    key_naming: StrategyName = Field(
        "TopicNameStrategy",
        alias="schema.registry.key.subject.name.strategy",
        description="How subjects of keys are named: Java's class, with or without its package.",
    )
    value_naming: StrategyName = Field(
        "TopicNameStrategy",
        alias="schema.registry.value.subject.name.strategy",
        description="How subjects of values are named: Java's class, with or without its package.",
    )
    key_id_serializer: IdSerializerName = Field(
        "PrefixSchemaIdSerializer",
        alias="schema.registry.key.schema.id.serializer",
        description="As `schema.registry.value.schema.id.serializer`, for keys.",
    )
    value_id_serializer: IdSerializerName = Field(
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
        description="Longest wait for requests, and for records without a delivery report, when the proxy stops.",
        ge=0,
    )

    consumer_threads: int = Field(
        50,
        alias="consumer.threads",
        description="Maximum number of threads for calls that block; below 1: 16 for each processor.",
        ge=-1,
    )
    consumer_request_timeout_ms: Milliseconds = Field(
        1000,
        alias="consumer.request.timeout.ms",
        description="Longest wait of a read for records, if its consumer instance does not set it.",
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
        description="Maximum number of reads without an instance that run at once, each with a connection.",
        ge=1,
    )
    simple_pool_timeout_ms: Milliseconds = Field(
        1000, alias="simpleconsumer.pool.timeout.ms", description="Longest wait of such a read for its turn.", ge=0
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
    produce_rate_bytes: ByteRate = Field(
        10000000,
        alias="api.v3.produce.rate.limit.max.bytes.per.sec",
        description="The most bytes a second.",
        ge=1,
    )
    produce_rate_global_bytes: ByteRate = Field(
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
        description="Time after `streaming.connection.max.duration.ms` in which records are still read, and refused.",
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
        0, alias="rate.limit.timeout.ms", description="Longest wait of a request for a permit.", ge=0
    )
    rate_limit_default_cost: int = Field(
        1, alias="rate.limit.default.cost", description="The permits that a request takes; 0 is free.", ge=0
    )
    rate_limit_costs: EndpointCosts = Field(
        {},
        alias="rate.limit.costs",
        description="The permits of single endpoints, such as `api.v3.topics.list=5`; 0 is free.",
    )
    metrics_topics: RegularExpression = Field(
        "",
        alias="magicbyte.metrics.topics",
        description="The topics whose names are a label of the [metrics of records](metrics.md#rest-proxy): those that"
        " match as a whole, at most 200. A topic is several series.",
    )
    allowed_endpoints: EndpointNames = Field(
        frozenset(),
        alias="api.endpoints.allowlist",
        description="The only endpoints that are served; see [their names](rest-proxy.md#settings).",
    )
    blocked_endpoints: EndpointNames = Field(
        frozenset(), alias="api.endpoints.blocklist", description="Endpoints that are not served."
    )

    @classmethod
    def without_effect(cls) -> Mapping[str, str]:
        """Properties of kafka-rest that have no effect here -> the reason."""
        return {**super().without_effect(), **WITHOUT_EFFECT}
