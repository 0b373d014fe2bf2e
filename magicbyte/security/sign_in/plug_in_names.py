"""The names that Confluent's plug-ins have for settings of sign-in."""

from __future__ import annotations

import re
from collections.abc import Mapping

from magicbyte.kit.settings import SettingsError

_HANDLER = re.compile(r"(?:[\w$]+\.)*AuthenticationHandler")
MECHANISMS = {"SSL": "SSL", "JETTY_AUTH": "BASIC"}
#: Confluent's plug-in names for settings that have a shorter name here.
OLD_RULES = (
    "confluent.schema.registry.auth.ssl.principal.mapping.rules",
    "confluent.rest.auth.ssl.principal.mapping.rules",
)
OLD_METHOD = "confluent.schema.registry.auth.mechanism"
OLD_HANDLERS = "rest.servlet.initializor.classes"
RULES = "ssl.principal.mapping.rules"


def with_confluents_names(properties: Mapping[str, str]) -> dict[str, str]:
    """Translate the names that Confluent's servers and plug-ins use for the same settings.

    Raises:
        SettingsError: A plug-in or method is not supported.
    """
    translated = dict(properties)
    for old in OLD_RULES:
        if old in translated:
            translated.setdefault(RULES, translated.pop(old))
    if OLD_METHOD in translated:
        value = translated.pop(OLD_METHOD).strip().upper()
        if value not in MECHANISMS:
            raise SettingsError(f"{OLD_METHOD}: {value} is not supported; use {' or '.join(MECHANISMS)}")
        translated.setdefault("authentication.method", MECHANISMS[value])
    handlers = translated.pop(OLD_HANDLERS, "").strip()
    if handlers:
        if not _HANDLER.fullmatch(handlers) or not any(name.startswith("oauthbearer.") for name in translated):
            raise SettingsError(
                f"{OLD_HANDLERS}: the plug-in {handlers} is not supported; remove it. To accept OAuth tokens, set"
                " authentication.method=BEARER and the settings oauthbearer.*"
            )
        translated.setdefault("authentication.method", "BEARER")
    return translated
