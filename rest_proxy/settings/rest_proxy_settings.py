"""The checked properties of a REST proxy, and what follows from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

from magicbyte.kit.kafka import client_settings as kafka
from magicbyte.kit.kafka.statistics import STATISTICS
from magicbyte.kit.secret import hide_user_info
from magicbyte.kit.settings import SettingsError
from magicbyte.security.settings import LOG
from rest_proxy.access.endpoints import EndpointLists
from rest_proxy.settings.properties import RestProxyProperties
from rest_proxy.settings.values import ID_SERIALIZERS, SUBJECT_STRATEGIES
from serdes.client.config import client_options
from serdes.error import ConfigError
from serdes.message.subject import Naming

#: How long Java's producer retries.
_JAVA_DELIVERY: kafka.Config = {"delivery.timeout.ms": 120000}
#: librdkafka's limits are off, because `producer.buffer.memory` is checked before a record is queued.
_UNBOUNDED_QUEUE: kafka.Config = {"queue.buffering.max.messages": 0, "queue.buffering.max.kbytes": 2147483647}
#: The paths of v1 and v2 except the root, which shows that the proxy runs.
_PATHS_OF_V2 = ("/brokers", "/topics", "/consumers/")


class FramePlaces(NamedTuple):
    """Whether keys, and whether values, have their frames in a header if a request does not say it."""

    key: bool = False
    value: bool = False


class RestProxySettings(RestProxyProperties):
    """Settings of one proxy process."""

    @property
    def node_name(self) -> str:
        """The name of this process among the nodes, in logs and traces."""
        if self.peers_self or self.id:
            return self.peers_self or self.id
        listener = self.listeners.partition(",")[0].strip() or f"http://0.0.0.0:{self.port}"
        return hide_user_info(listener)

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
        return Naming(SUBJECT_STRATEGIES[self.key_naming], SUBJECT_STRATEGIES[self.value_naming])

    def frame_places(self) -> FramePlaces:
        """The places for the frames of keys and values."""
        return FramePlaces(ID_SERIALIZERS[self.key_id_serializer], ID_SERIALIZERS[self.value_id_serializer])

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
