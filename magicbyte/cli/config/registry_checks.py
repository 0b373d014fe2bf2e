"""The refusals of `magicbyte registry` that need no Kafka."""

from __future__ import annotations

from magicbyte.cli.config.checking import Refusals
from magicbyte.http.addresses import warn_of_foreign
from magicbyte.http.server import check_security
from magicbyte.security.tls.server import ServerTls
from registry.app import cannot_start, guard_of
from registry.cluster.open import check_storage
from registry.cluster.workers import require_shared_storage
from registry.log.port import LogError
from registry.settings import RegistrySettings


def find_refusals(properties: dict[str, str], found: Refusals) -> None:
    """Do the checks of the registry's start.

    Args:
        properties: The properties, without placeholders.
        found: Gets the refusals.
    """
    settings = found.settings(RegistrySettings.from_properties, properties)
    if settings is None:
        return
    found.run(lambda: require_shared_storage(settings))
    found.run(lambda: _check_storage(settings))
    if "listeners" in found.dropped:
        return
    warn_of_foreign(settings.listeners)
    # Users, rules and keys are read only by settings that fit together.
    if found.run(lambda: check_security(settings.listeners, settings)):
        found.run(lambda: guard_of(settings))
        if any(listener.scheme == "https" for listener in settings.listeners):
            found.run(lambda: ServerTls(settings))


def find_problems_of_values(properties: dict[str, str], found: Refusals) -> None:
    """Do the checks that read none of the files that the properties name."""
    settings = found.settings(RegistrySettings.from_properties, properties)
    if settings is not None and "listeners" not in found.dropped:
        found.run(lambda: check_security(settings.listeners, settings))


def _check_storage(settings: RegistrySettings) -> None:
    try:
        check_storage(settings)
    except LogError as error:
        raise cannot_start(error) from error
