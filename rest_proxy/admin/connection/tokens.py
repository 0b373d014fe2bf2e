"""Tokens for SASL's OAUTHBEARER, from an endpoint by OIDC or from a function, as librdkafka's clients get them."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import Callable, Mapping
from typing import Any

import httpx
from aiokafka.abc import AbstractTokenProvider

from magicbyte.kit.kafka.client_settings import Config, KafkaSettingsError
from magicbyte.kit.kafka.sasl import TOKEN_ENDPOINT

#: A token is renewed when this part of its lifetime has passed.
_RENEWED_AT = 0.8
_SECONDS = 10.0


class TokenProvider(AbstractTokenProvider):  # type: ignore[misc]
    """Gives tokens to connections, and asks for a new one before the last one expires."""

    def __init__(self, source: Callable[[], tuple[str, float]], extensions: Mapping[str, str]) -> None:
        """Make a provider.

        Args:
            source: Returns a token and when it expires, in seconds since 1970; it may block.
            extensions: The SASL extensions.
        """
        self._source = source
        self._extensions = dict(extensions)
        self._token = ""
        self._renew_at = 0.0
        self._lock = asyncio.Lock()

    async def token(self) -> str:
        """Return a token that has not expired.

        Raises:
            OSError: There is no token, so no connection can be made.
        """
        async with self._lock:
            if time.time() >= self._renew_at:
                try:
                    self._token, expires = await asyncio.to_thread(self._source)
                except (httpx.HTTPError, ValueError, KeyError) as error:
                    raise OSError(f"no token for OAUTHBEARER: {error}") from None
                self._renew_at = time.time() + _RENEWED_AT * max(0.0, expires - time.time())
        return self._token

    def extensions(self) -> dict[str, str]:
        """Return the SASL extensions."""
        return self._extensions


def token_provider(config: Config) -> TokenProvider:
    """Return the provider for a client's settings.

    Args:
        config: librdkafka's names and values.

    Raises:
        KafkaSettingsError: They name no source of tokens.
    """
    text = {name: str(value) for name, value in config.items()}
    extensions = dict(
        part.split("=", 1) for part in text.get("sasl.oauthbearer.extensions", "").split(",") if "=" in part
    )
    from_function = config.get("oauth_cb")
    if callable(from_function):
        return TokenProvider(lambda: from_function(text.get("sasl.oauthbearer.config", "")), extensions)
    if text.get(TOKEN_ENDPOINT):
        return TokenProvider(lambda: _from_endpoint(text), extensions)
    if text.get("enable.sasl.oauthbearer.unsecure.jwt", "").lower() == "true":
        return TokenProvider(lambda: _unsecured(text.get("sasl.oauthbearer.config", "")), extensions)
    raise KafkaSettingsError(f"sasl.mechanism: OAUTHBEARER needs {TOKEN_ENDPOINT}")


def _from_endpoint(config: Mapping[str, str]) -> tuple[str, float]:
    """Ask a token endpoint by the client credentials grant."""
    credentials = (config.get("sasl.oauthbearer.client.id", ""), config.get("sasl.oauthbearer.client.secret", ""))
    form = {"grant_type": "client_credentials"}
    if config.get("sasl.oauthbearer.scope"):
        form["scope"] = config["sasl.oauthbearer.scope"]
    verify: Any = config.get("https.ca.location") or True
    response = httpx.post(
        config[TOKEN_ENDPOINT], data=form, auth=credentials, timeout=_SECONDS, verify=verify, trust_env=False
    )
    response.raise_for_status()
    answer = response.json()
    return str(answer["access_token"]), time.time() + float(answer.get("expires_in", 300))


def _unsecured(settings: str) -> tuple[str, float]:
    """Make an unsigned token as librdkafka does for tests, from settings such as `principal=admin`."""
    options = dict(part.split("=", 1) for part in settings.split() if "=" in part)
    now = time.time()
    expires = now + float(options.get("lifeSeconds", 3600))
    claims = {options.get("principalClaimName", "sub"): options.get("principal", ""), "iat": now, "exp": expires}
    parts = (base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in ({"alg": "none"}, claims))
    return f"{b'.'.join(parts).decode()}.", expires
