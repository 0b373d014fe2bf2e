"""A check before serving that the Kafka clients accept the settings, so that a wrong property is reported at once."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer

from magicbyte.kit.kafka import client_settings as kafka
from magicbyte.kit.settings import SettingsError
from rest_proxy.admin.connection.options import connection_options
from rest_proxy.settings import RestProxySettings
from rest_proxy.start.registry_client import registry_client

log = logging.getLogger("rest_proxy")


def check_clients(settings: RestProxySettings) -> None:
    """Make a client of each kind with the configuration that it will have.

    Raises:
        SettingsError: A client refuses a property; the text names it.
    """
    checks: tuple[tuple[str, Callable[[], object]], ...] = (
        ("producer.", lambda: _read(Producer, settings.producer_config("all"))),
        ("consumer.", lambda: _read(Consumer, {**settings.consumer_config(), "group.id": "check"})),
        ("admin.", lambda: connection_options(settings.admin_config())),
        ("schema.registry.", lambda: registry_client(settings)),
    )
    for prefix, check in checks:
        try:
            check()
        except SettingsError:
            raise
        except kafka.KafkaSettingsError as error:
            raise SettingsError(f"{prefix}* and client.*: {error}") from None
        except KafkaException as error:
            raise SettingsError(f"{prefix}* and client.*: {error.args[0].str()}") from None


def _read(client: Callable[[dict[str, Any]], Producer | Consumer], config: kafka.Config) -> None:
    instance = client({**config, "logger": log, "error_cb": _ignored})
    if isinstance(instance, Consumer):
        instance.close()


def _ignored(_: KafkaError) -> None: ...
