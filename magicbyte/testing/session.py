"""The servers of a test run: started together, renewed for each test, stopped at the end."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from magicbyte.kit.processes import process
from magicbyte.platform.broker import LocalBroker, free_port
from magicbyte.testing.renewed import RenewableServer

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient


@dataclass(frozen=True, slots=True)
class SchemaRegistry:
    """A running schema registry.

    Attributes:
        url: Its URL, without a slash at the end.
        client: Settings of a client by confluent-kafka's names; with `magicbyte_secure` it signs in as `app`, by
            password, and may read and write what begins with `app.`.
        admin: The same for a client that may do everything; with `magicbyte_secure` it shows a certificate.
    """

    url: str
    client: Mapping[str, str] = field(repr=False)
    admin: Mapping[str, str] = field(repr=False)

    def __str__(self) -> str:
        return self.url


@dataclass(frozen=True, slots=True)
class KafkaBroker:
    """A running broker; `host:port` for clients."""

    bootstrap_servers: str

    def __str__(self) -> str:
        return self.bootstrap_servers


@dataclass(frozen=True, slots=True)
class RestProxy:
    """A running REST proxy; the URL has no slash at its end."""

    url: str

    def __str__(self) -> str:
        return self.url


@dataclass(frozen=True, slots=True)
class _Settings:
    """The settings of the registry, of the proxy and of their clients; `ca` is None without TLS."""

    registry: Mapping[str, str]
    rest_proxy: Mapping[str, str]
    client: Mapping[str, str]
    admin: Mapping[str, str]
    ca: Path | None


def _open(registry_url: str) -> _Settings:
    return _Settings({}, {"schema.registry.url": registry_url}, {"url": registry_url}, {"url": registry_url}, None)


def _secured(folder: Path, registry_port: int, rest_port: int) -> _Settings:
    """The files of `magicbyte secure`, with their placeholders resolved."""
    from magicbyte.kit.placeholders import resolve  # noqa: PLC0415 - few runs are secured
    from magicbyte.kit.properties_file import read_properties_file  # noqa: PLC0415
    from magicbyte.security.first_try import secure  # noqa: PLC0415

    files = secure(folder, registry_port=registry_port, rest_port=rest_port)
    registry, rest_proxy, client, admin = (
        resolve(read_properties_file(path)) for path in (files.registry, files.rest_proxy, files.clients, files.admin)
    )
    return _Settings(registry, rest_proxy, _of_confluent(client), _of_confluent(admin), files.ca)


#: Java's names of what confluent-kafka has in files of its own names.
_CONFLUENT_NAMES = {
    "ssl.truststore.location": ("ssl.ca.location",),
    "ssl.keystore.location": ("ssl.certificate.location", "ssl.key.location"),
}


def _of_confluent(properties: Mapping[str, str]) -> dict[str, str]:
    """A client's settings by confluent-kafka's names; made here, since a project may have a `serdes` of its own."""
    settings = {name.removeprefix("schema.registry."): value for name, value in properties.items()}
    return {confluent: value for name, value in settings.items() for confluent in _CONFLUENT_NAMES.get(name, (name,))}


#: The servers, each behind those it needs, by the names of their fixtures.
_NEEDS = {
    "schema_registry": {"schema_registry"},
    "kafka_broker": {"kafka_broker"},
    "rest_proxy": {"schema_registry", "kafka_broker", "rest_proxy"},
}


class Session:
    """The servers of a test run; each one starts when a test first uses it."""

    def __init__(
        self, registry: Mapping[str, str], broker: Mapping[str, str], proxy: Mapping[str, str], *, secure: bool = False
    ) -> None:
        """Configure what to start; nothing is started yet.

        Args:
            registry: settings of the registry.
            broker: settings of the broker.
            proxy: settings of the REST proxy.
            secure: whether registry and proxy have TLS, sign-in and access rules, as `magicbyte secure` makes them.
        """
        self._folder = process.temporary_folder("magicbyte-pytest-")
        ports = (free_port(), free_port())
        registry_url, proxy_url = (f"http{'s' * secure}://127.0.0.1:{port}" for port in ports)
        made = _secured(self._folder / "secure", *ports) if secure else _open(registry_url)
        self._schema_registry = SchemaRegistry(registry_url, made.client, made.admin)
        self._registry = RenewableServer(
            "registry",
            {"magicbyte.storage": "memory:", **made.registry, **registry},
            self._folder,
            probe="/subjects",
            url=registry_url,
            ca=made.ca,
        )
        # The first member of a group need not wait for others: groups in tests usually have one member.
        settings = {"group.initial.rebalance.delay.ms": "0", **broker}
        self._broker = LocalBroker(self._folder / "broker", 0, properties=settings)
        self._proxy = RenewableServer(
            "rest_proxy",
            {"bootstrap.servers": self._broker.bootstrap_servers, **made.rest_proxy, **proxy},
            self._folder,
            probe="/",
            url=proxy_url,
            ca=made.ca,
        )
        #: What is as new since the test at hand began.
        self._fresh: set[str] = set()
        self._admin: AdminClient | None = None

    def begin(self, names: Iterable[str]) -> None:
        """Prepare the servers of a test, all at the same time.

        Args:
            names: the test's fixtures.
        """
        self._fresh = set()
        self._freshen(set().union(*(_NEEDS.get(name, ()) for name in names)))

    def schema_registry(self) -> SchemaRegistry:
        """Return the registry, without schemas, configs and modes of earlier tests."""
        self._freshen(_NEEDS["schema_registry"])
        return self._schema_registry

    def kafka_broker(self) -> KafkaBroker:
        """Return the broker, without topics and groups of earlier tests."""
        self._freshen(_NEEDS["kafka_broker"])
        return KafkaBroker(self._broker.bootstrap_servers)

    def rest_proxy(self) -> RestProxy:
        """Return the REST proxy; its registry and broker are also empty."""
        self._freshen(_NEEDS["rest_proxy"])
        return RestProxy(self._proxy.url)

    def _freshen(self, names: set[str]) -> None:
        stale = names - self._fresh
        self._fresh |= stale
        # Renew the proxy first: afterwards none of its clients uses the other servers.
        servers: tuple[tuple[str, RenewableServer | LocalBroker, Callable[[], None]], ...] = (
            ("rest_proxy", self._proxy, self._proxy.renew),
            ("schema_registry", self._registry, self._registry.renew),
            ("kafka_broker", self._broker, self._empty_broker),
        )
        started = []
        for name, server, renew in servers:
            if name not in stale:
                continue
            if server.is_running:
                renew()
            else:
                server.launch()
                started.append(server)
        for server in started:
            server.wait_until_ready()

    def stop(self) -> None:
        """Stop all servers."""
        self._proxy.terminate()
        self._registry.terminate()
        # Its data is no longer needed.
        self._broker.kill()
        self._proxy.stop(5)
        self._registry.stop(5)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _empty_broker(self) -> None:
        """Delete all topics and groups except the broker's internal topics."""
        from confluent_kafka import KafkaException  # noqa: PLC0415 - only if a broker is used twice
        from confluent_kafka.admin import AdminClient  # noqa: PLC0415

        if self._admin is None:
            self._admin = AdminClient({"bootstrap.servers": self._broker.bootstrap_servers, "log_level": 2})
        admin = self._admin
        topics = [name for name in admin.list_topics(timeout=10).topics if not name.startswith("__")]
        for deletion in admin.delete_topics(topics).values() if topics else ():
            deletion.result(10)
        groups = [group.group_id for group in admin.list_consumer_groups(request_timeout=10).result().valid]
        for deletion in admin.delete_consumer_groups(groups).values() if groups else ():
            try:
                deletion.result(10)
            except KafkaException:
                # A test left a consumer of this group open; the group disappears with the consumer.
                continue
