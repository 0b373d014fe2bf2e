"""The registry client's settings by confluent-kafka's names, or Java's of the same meaning."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from serdes.client.auth import Auth, Basic, Bearer, ClientCredentials, Target
from serdes.client.clients import CacheLimits, Retry, Tls
from serdes.error import ConfigError
from serdes.message.parsers import integer, number, text


def client_options(conf: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of RegistryClient that confluent-kafka's settings, or Java's of the same meaning, stand for.

    Raises:
        ConfigError: a setting is missing, unknown or wrong.
    """
    rest = {name: value for name, value in conf.items() if value is not None}
    urls = rest.pop("url", None) or rest.pop("schema.registry.url", None)
    if urls is None:
        raise ConfigError("url", "is needed")
    options: dict[str, Any] = {"urls": urls, "auth": _auth(rest), "tls": _tls(rest)}
    options["retry"] = Retry(
        integer("max.retries", rest.pop("max.retries", 3)),
        number("retries.wait.ms", rest.pop("retries.wait.ms", 1000)) / 1000,
        number("retries.max.wait.ms", rest.pop("retries.max.wait.ms", 20000)) / 1000,
    )
    ttl = rest.pop("cache.latest.ttl.sec", None)
    options["cache"] = CacheLimits(
        integer("cache.capacity", rest.pop("cache.capacity", 1000)),
        None if ttl is None else number("cache.latest.ttl.sec", ttl),
    )
    if "timeout" in rest:
        options["timeout"] = number("timeout", rest.pop("timeout"))
    if "proxy" in rest:
        options["proxy"] = text("proxy", rest.pop("proxy"))
    if rest:
        raise ConfigError(min(rest), "is no setting of the registry client")
    return options


def _tls(rest: dict[str, Any]) -> Tls:
    ca = rest.pop("ssl.ca.location", None)
    return Tls(
        None if isinstance(ca, bool) else ca,
        rest.pop("ssl.certificate.location", None),
        rest.pop("ssl.key.location", None),
        rest.pop("ssl.key.password", None),
        verify=ca is not False,
    )


def _auth(rest: dict[str, Any]) -> Auth | None:
    source = rest.pop("basic.auth.credentials.source", None)
    user_info = rest.pop("basic.auth.user.info", None)
    bearer = rest.pop("bearer.auth.credentials.source", None)
    if bearer is not None and (user_info is not None or source is not None):
        raise ConfigError("bearer.auth.credentials.source", "cannot be combined with basic.auth")
    if bearer is not None:
        return _bearer(str(bearer), rest)
    if source == "SASL_INHERIT":
        user_info = f"{rest.pop('sasl.username', '')}:{rest.pop('sasl.password', '')}"
    elif source not in {None, "URL", "USER_INFO"}:
        raise ConfigError("basic.auth.credentials.source", f"must be URL, USER_INFO or SASL_INHERIT, not {source!r}")
    if user_info is None:
        if source == "USER_INFO":
            raise ConfigError("basic.auth.user.info", "is needed")
        return None
    user, colon, password = str(user_info).partition(":")
    if not colon:
        raise ConfigError("basic.auth.user.info", "must be user:password")
    return Basic(user, password)


def _bearer(source: str, rest: dict[str, Any]) -> Auth:
    pool = rest.pop("bearer.auth.identity.pool.id", None)
    target = Target(
        rest.pop("bearer.auth.logical.cluster", None), ",".join(pool) if isinstance(pool, list | tuple) else pool
    )

    def needed(name: str) -> Any:
        if name not in rest:
            raise ConfigError(name, f"is needed with bearer.auth.credentials.source={source}")
        return rest.pop(name)

    if source == "STATIC_TOKEN":
        return Bearer(text("bearer.auth.token", needed("bearer.auth.token")), target)
    if source == "OAUTHBEARER":
        return ClientCredentials(
            needed("bearer.auth.issuer.endpoint.url"),
            needed("bearer.auth.client.id"),
            needed("bearer.auth.client.secret"),
            rest.pop("bearer.auth.scope", None),
            target,
        )
    if source == "CUSTOM":
        function: Callable[[Any], Mapping[str, str]] = needed("bearer.auth.custom.provider.function")
        argument = rest.pop("bearer.auth.custom.provider.config", None)
        return Bearer(lambda: function(argument)["bearer.auth.token"], target)
    raise ConfigError("bearer.auth.credentials.source", f"must be STATIC_TOKEN, OAUTHBEARER or CUSTOM, not {source!r}")
