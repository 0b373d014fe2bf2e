"""A check before serving that the Kafka clients accept the settings, so that a wrong property is reported at once."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer

from magicbyte.kit.kafka import client_settings as kafka
from magicbyte.kit.settings import SettingsError
from magicbyte.kit.settings.server import raise_problems
from rest_proxy.admin.connection.options import connection_options
from rest_proxy.settings import RestProxySettings
from rest_proxy.start.registry_client import registry_client

#: The clients of the check may try to connect before they end; those of the proxy tell what goes wrong.
_silent = logging.getLogger("rest_proxy.start.client_check")
_silent.addHandler(logging.NullHandler())
_silent.propagate = False

#: The value and the name of a property in an error of librdkafka's.
_QUOTED = re.compile('"([^"]*)"')


def check_clients(settings: RestProxySettings) -> None:
    """Make a client of each kind with the configuration that it will have.

    Raises:
        SettingsError: Clients refuse properties; the text has a line for each client, with a property.
    """
    raise_problems(refusals_of_clients(settings))


def refusals_of_clients(settings: RestProxySettings) -> Iterator[str]:
    """The first property that each kind of client refuses, with the reason."""
    checks: tuple[tuple[str, Callable[[], object]], ...] = (
        ("producer.", lambda: _read(Producer, settings.producer_config("all"))),
        ("consumer.", lambda: _read(Consumer, {**settings.consumer_config(), "group.id": "check"})),
        ("admin.", lambda: connection_options(settings.admin_config())),
        ("schema.registry.", lambda: registry_client(settings)),
    )
    for prefix, check in checks:
        try:
            check()
        except SettingsError as error:
            yield str(error)
        except kafka.KafkaSettingsError as error:
            name, _, problem = str(error).partition(": ")
            full_name = _full_name(settings.properties, prefix, [name])
            yield f"{full_name}: {problem}" if full_name else f"{prefix}* and client.*: {error}"
        except KafkaException as error:
            text = error.args[0].str()
            full_name = _full_name(settings.properties, prefix, _QUOTED.findall(text))
            yield f"{full_name or f'{prefix}* and client.*'}: {text}"


def _full_name(properties: Mapping[str, str], prefix: str, names: Sequence[str]) -> str | None:
    """The name in the settings of the property that a client names; None if it has another name there."""
    full_names = (before + name for name in names for before in (prefix, "client.", ""))
    return next((name for name in full_names if name in properties), None)


def _read(client: Callable[[dict[str, Any]], Producer | Consumer], config: kafka.Config) -> None:
    instance = client({**config, "logger": _silent, "error_cb": _ignored})
    if isinstance(instance, Consumer):
        instance.close()


def _ignored(_: KafkaError) -> None: ...
