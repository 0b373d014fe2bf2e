"""The refusals of `magicbyte rest-proxy` that need no Kafka."""

from __future__ import annotations

from magicbyte.cli.config.checking import Refusals
from magicbyte.http.addresses import warn_of_foreign
from magicbyte.http.server import check_security
from magicbyte.security.tls.server import ServerTls
from rest_proxy.app import guard_of, listeners_of
from rest_proxy.settings import RestProxySettings
from rest_proxy.start.client_check import check_clients


def find_problems_of_values(properties: dict[str, str], found: Refusals) -> None:
    """Do the checks that read none of the files that the properties name."""
    settings = found.settings(RestProxySettings.from_properties, properties)
    if settings is not None and "listeners" not in found.dropped:
        found.run(lambda: check_security(listeners_of(settings), settings))


def find_refusals(properties: dict[str, str], found: Refusals) -> None:
    """Do the checks of the proxy's start.

    Args:
        properties: The properties, without placeholders.
        found: Gets the refusals.
    """
    settings = found.settings(RestProxySettings.from_properties, properties)
    if settings is None:
        return
    found.run(lambda: check_clients(settings))
    if not found.run(lambda: listeners_of(settings)):
        return
    listeners = listeners_of(settings)
    warn_of_foreign(listeners)
    # Users, rules and keys are read only by settings that fit together.
    if found.run(lambda: check_security(listeners, settings)):
        found.run(lambda: guard_of(settings))
        if any(listener.scheme == "https" for listener in listeners):
            found.run(lambda: ServerTls(settings))
