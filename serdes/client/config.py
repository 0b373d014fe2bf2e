"""The registry client's settings, under confluent-kafka's names or Java's names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from magicbyte.kit.placeholders import PlaceholderError, resolve_value
from magicbyte.kit.settings.kinds import choice
from magicbyte.kit.settings.place import moved
from magicbyte.kit.settings.section import Section, setting, settings_of
from serdes.client.auth import Auth, Basic, Bearer, ClientCredentials, Target
from serdes.client.clients import CacheLimits, Retry
from serdes.client.tls_settings import TlsRows, take_tls
from serdes.error import ConfigError
from serdes.setting_kinds import ANY, INTEGER, NUMBER, TEXT, placing, read_settings, typed

#: An optional prefix of each name, as in Java's serializers and Connect.
PREFIX = "schema.registry."


class ClientSettings(Section):
    """The settings of a registry client, besides those of sign-in and TLS."""

    url: Any = setting(
        replace(ANY, label="a URL, or several with commas between"),
        "The registry, or several nodes: if one fails, the client uses the others.",
        "url",
    )
    retries: int = setting(INTEGER, "How often a request is repeated.", "max.retries", default=3)
    wait_ms: float = setting(NUMBER, "Milliseconds before the first retry.", "retries.wait.ms", default=1000)
    max_wait_ms: float = setting(NUMBER, "The most milliseconds before a retry.", "retries.max.wait.ms", default=20000)
    cache_capacity: int = setting(INTEGER, "How many schemas are cached.", "cache.capacity", default=1000)
    cache_ttl: float | None = setting(
        NUMBER,
        "Seconds for which a latest version is cached.",
        "cache.latest.ttl.sec",
        default=None,
        default_words="for ever",
    )
    timeout: float | None = setting(
        NUMBER, "Seconds for connecting, and for waiting for an answer.", "timeout", default=None, default_words="`30`"
    )
    proxy: str | None = setting(TEXT, "The proxy's URL.", "proxy", default=None)
    proxy_host: Any = setting(ANY, "Instead of proxy: the proxy's host.", "proxy.host", default=None)
    proxy_port: Any = setting(ANY, "The proxy's port.", "proxy.port", default=None, default_words="`80`")


class SignInRows(Section):
    """How a registry client signs in; `_auth` takes these settings."""

    basic_user: str | None = setting(
        TEXT, "`NAME:PASSWORD`, or `ID:SECRET` of an API key.", "basic.auth.user.info", default=None, secret=True
    )
    basic_source: str | None = setting(
        choice("USER_INFO", "URL", "SASL_INHERIT"),
        "`USER_INFO`: `basic.auth.user.info`. `URL`: `https://NAME:PASSWORD@host`. `SASL_INHERIT`: the `sasl.username`"
        " and `sasl.password` of the Kafka client, in tools that have one.",
        "basic.auth.credentials.source",
        default=None,
        default_words="`USER_INFO` or `URL`, as given",
    )
    token: str | None = setting(TEXT, "A token.", "bearer.auth.token", default=None, secret=True)
    bearer_source: str | None = setting(
        choice("STATIC_TOKEN", "OAUTHBEARER", "SASL_OAUTHBEARER_INHERIT", "CUSTOM"),
        "`STATIC_TOKEN`: `bearer.auth.token`. `OAUTHBEARER`: client credentials, by the next settings."
        " `SASL_OAUTHBEARER_INHERIT`: the credentials of the Kafka client. `CUSTOM`: a Python function.",
        "bearer.auth.credentials.source",
        default=None,
        default_words="`STATIC_TOKEN` with a token",
    )
    issuer: str | None = setting(
        TEXT, "OAuth client credentials: the token endpoint.", "bearer.auth.issuer.endpoint.url", default=None
    )
    client_id: str | None = setting(TEXT, "The client's id.", "bearer.auth.client.id", default=None)
    client_secret: str | None = setting(
        TEXT, "The client's secret.", "bearer.auth.client.secret", default=None, secret=True
    )
    scope: str | None = setting(TEXT, "The scope of the token.", "bearer.auth.scope", default=None)
    logical_cluster: str | None = setting(
        TEXT,
        "A header of Confluent's, sent with a token. Our registry does not read it.",
        "bearer.auth.logical.cluster",
        default=None,
    )
    pool: Any = setting(
        replace(ANY, label="a text, or a list"),
        "A header of Confluent's, sent with a token. Our registry does not read it.",
        "bearer.auth.identity.pool.id",
        default=None,
    )
    function: Any = setting(
        replace(ANY, label="a Python function"),
        "Takes the next setting, and returns a mapping with `bearer.auth.token`.",
        "bearer.auth.custom.provider.function",
        default=None,
    )
    argument: Any = setting(ANY, "What this function takes.", "bearer.auth.custom.provider.config", default=None)


def client_options(conf: Mapping[str, Any], *, are_resolved: bool = False) -> dict[str, Any]:
    """The arguments of RegistryClient for settings under confluent-kafka's or Java's names.

    Placeholders such as `${file:/path:key}` are resolved here, so nothing before the client sees their values.

    Args:
        conf: Settings by name; a name with the prefix `schema.registry.` takes precedence over one without it.
        are_resolved: Whether the settings have no placeholders left: what looks like one is part of a secret.

    Raises:
        ConfigError: a setting is missing, unknown or wrong.
        ExtraMissing: a setting names a PKCS#12 store, but the library that reads it is not installed.
    """
    given = {name: value for name, value in short_names(conf).items() if value is not None}
    with placing(given):
        rest = {name: value if are_resolved else _resolved(name, value) for name, value in given.items()}
        options: dict[str, Any] = {"auth": _auth(rest), "tls": take_tls(rest)}
        others = [row.name for section in (SignInRows, TlsRows) for row in settings_of(section)]
        settings = read_settings(ClientSettings, rest, "is not a setting of the registry client", also=others)
    options["urls"] = settings.url
    options["retry"] = Retry(settings.retries, settings.wait_ms / 1000, settings.max_wait_ms / 1000)
    options["cache"] = CacheLimits(settings.cache_capacity, settings.cache_ttl)
    proxy = settings.proxy or (settings.proxy_host and f"http://{settings.proxy_host}:{settings.proxy_port or 80}")
    more = {"timeout": settings.timeout, "proxy": proxy}
    return options | {name: value for name, value in more.items() if value is not None}


def short_names(conf: Mapping[str, Any]) -> dict[str, Any]:
    """Settings without the prefix `schema.registry.`; a name with the prefix takes precedence over one without it."""
    plain = {name: value for name, value in conf.items() if not name.startswith(PREFIX)}
    return plain | {name.removeprefix(PREFIX): value for name, value in conf.items() if name.startswith(PREFIX)}


def _resolved(name: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return moved(resolve_value(name, value), value)
    except PlaceholderError as error:
        raise ConfigError(name, str(error).removeprefix(f"{name}: ")) from None


def _auth(rest: dict[str, Any]) -> Auth | None:
    source = rest.pop("basic.auth.credentials.source", None)
    user_info = rest.pop("basic.auth.user.info", None)
    # As in Java, a token without a source is static.
    bearer = rest.pop("bearer.auth.credentials.source", "STATIC_TOKEN" if "bearer.auth.token" in rest else None)
    if bearer is not None:
        if user_info is not None or source is not None:
            raise ConfigError("bearer.auth.credentials.source", "cannot be combined with basic.auth")
        return _bearer(str(bearer), rest)
    for name in rest:
        if name.startswith("bearer.auth."):
            raise ConfigError("bearer.auth.credentials.source", f"is needed with {name}")
    return _basic(source, user_info, rest)


def _basic(source: object, user_info: object, rest: dict[str, Any]) -> Basic | None:
    if source == "SASL_INHERIT":
        for name in ("sasl.username", "sasl.password"):
            if name not in rest:
                raise ConfigError(name, f"is needed with basic.auth.credentials.source={source}")
        return Basic(str(rest.pop("sasl.username")), str(rest.pop("sasl.password")))
    if source not in {None, "URL", "USER_INFO"}:
        raise ConfigError("basic.auth.credentials.source", f"must be URL, USER_INFO or SASL_INHERIT, not {source!r}")
    if user_info is None:
        if source == "USER_INFO":
            raise ConfigError("basic.auth.user.info", "is needed")
        return None
    user, colon, password = str(user_info).partition(":")
    if not colon:
        raise ConfigError("basic.auth.user.info", "must be user:password")
    return Basic(user, password)


#: The settings of each source with the token endpoint, the client's id, its secret and the scope.
_OAUTH = {
    "OAUTHBEARER": (
        "bearer.auth.issuer.endpoint.url",
        "bearer.auth.client.id",
        "bearer.auth.client.secret",
        "bearer.auth.scope",
    ),
    "SASL_OAUTHBEARER_INHERIT": (
        "sasl.oauthbearer.token.endpoint.url",
        "sasl.oauthbearer.client.id",
        "sasl.oauthbearer.client.secret",
        "sasl.oauthbearer.scope",
    ),
}
#: The settings of the Kafka client that `SASL_INHERIT` and `SASL_OAUTHBEARER_INHERIT` use.
INHERITED = frozenset({"sasl.username", "sasl.password", *_OAUTH["SASL_OAUTHBEARER_INHERIT"]})


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
        return Bearer(typed(TEXT, "bearer.auth.token", needed("bearer.auth.token")), target)
    if source in _OAUTH:
        endpoint, client_id, secret, scope = _OAUTH[source]
        return ClientCredentials(
            needed(endpoint),
            needed(client_id),
            needed(secret),
            rest.pop(scope, None),
            target,
        )
    if source == "CUSTOM":
        function: Callable[[Any], Mapping[str, str]] = needed("bearer.auth.custom.provider.function")
        argument = rest.pop("bearer.auth.custom.provider.config", None)
        return Bearer(lambda: function(argument)["bearer.auth.token"], target)
    sources = f"STATIC_TOKEN, {', '.join(_OAUTH)} or CUSTOM"
    raise ConfigError("bearer.auth.credentials.source", f"must be {sources}, not {source!r}")
