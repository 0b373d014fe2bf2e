"""Loads the access rules from a registry's log, and follows their changes."""

from __future__ import annotations

import asyncio
import logging

from magicbyte.kit.failure import Failure
from magicbyte.security.metrics import METRICS
from magicbyte.security.rights.authorizer import Authorizer
from magicbyte.security.rights.rule import RuleError
from magicbyte.security.rights.rule_json import rules_from_json
from rest_proxy.settings import RestProxySettings
from serdes.client.clients import AsyncRegistryClient, RegistryClient, Retry
from serdes.error import SerdesError

log = logging.getLogger("magicbyte.security")

#: How often to request the rules, in seconds; usually the answer is that nothing has changed.
_LOOK_SECONDS = 1.0


def load_rules(settings: RestProxySettings, authorizer: Authorizer) -> None:
    """Put the registry's rules in force before anything is served.

    Raises:
        Failure: They cannot be fetched, one is of an unknown kind, or they allow nobody anything.
        SettingsError: A property of the registry's client is wrong.
    """
    with RegistryClient(**settings.registry_client_options()) as client:
        where = f"the log of {client.urls[0]}"
        try:
            answer, _ = client.access_rules()
            _replace(authorizer, answer)
        except (SerdesError, RuleError) as error:
            raise Failure(f"magicbyte.acl.store: the rules cannot be read from {where}: {error}") from None
    authorizer.require_use(where)


async def follow_rules(settings: RestProxySettings, authorizer: Authorizer) -> None:
    """Follow the registry's rules until cancelled; while it cannot be reached, the last rules stay in force."""
    options = settings.registry_client_options()
    etag: str | None = None
    is_failing = False
    async with AsyncRegistryClient(**{**options, "retry": Retry(0)}) as client:
        while True:
            try:
                answer, newest = await client.access_rules(etag)
                if answer is not None:
                    await asyncio.to_thread(_replace, authorizer, answer)
                    METRICS.reloads[authorizer.name, "success"] += 1
                etag, is_failing = newest, False
            except (SerdesError, RuleError) as error:
                METRICS.reloads[authorizer.name, "failure"] += 1
                if not is_failing:
                    log.error(  # noqa: TRY400  the text says it all
                        "the access rules cannot be reloaded, so those loaded last stay in force: %s",
                        error,
                        extra={"event": "rules_not_reloaded", "error": str(error)},
                    )
                is_failing = True
            await asyncio.sleep(_LOOK_SECONDS)


def _replace(authorizer: Authorizer, answer: object) -> None:
    """Check and compile the rules, which takes long for thousands of them, and put them in force.

    Raises:
        RuleError: One of them is not known here.
    """
    authorizer.replace(rules_from_json(answer))
