"""The registry client's settings, under confluent-kafka's names or Java's names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from magicbyte.kit.placeholders import PlaceholderError, resolve_value
from magicbyte.kit.settings.place import moved
from magicbyte.kit.settings.section import Section, setting
from serdes.client.clients import CacheLimits, Retry
from serdes.client.sign_in_settings import SignInRows, take_inherited
from serdes.client.tls_settings import TlsRows, drop_without_effect
from serdes.error import ConfigError
from serdes.setting_kinds import ANY, INTEGER, NUMBER, TEXT, placing, read_settings

#: An optional prefix of each name, as in Java's serializers and Connect.
PREFIX = "schema.registry."


class ClientSettings(Section):
    """The settings of a registry client, besides those of sign-in and TLS."""

    url: Any = setting(
        replace(ANY, label="a URL, or several with commas between"),
        "The registry, or several nodes: if one fails, the client uses the others.",
        "url",
    )
    retries: int = setting(INTEGER, "Maximum number of times that a request is repeated.", "max.retries", default=3)
    wait_ms: float = setting(NUMBER, "Milliseconds before the first retry.", "retries.wait.ms", default=1000)
    max_wait_ms: float = setting(NUMBER, "The most milliseconds before a retry.", "retries.max.wait.ms", default=20000)
    cache_capacity: int = setting(
        INTEGER, "Maximum number of schemas in each cache of the client.", "cache.capacity", default=1000
    )
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


class _AllSettings(ClientSettings, SignInRows, TlsRows):
    """All settings of a registry client."""

    def problems(self) -> Iterable[tuple[str, str]]:
        """Settings that contradict or need each other."""
        yield from SignInRows.problems(self)
        yield from TlsRows.problems(self)


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
        drop_without_effect(rest)
        inherited = take_inherited(rest)
        settings = read_settings(
            _AllSettings, rest, "is not a setting of the registry client", also=(), inherited=inherited
        )
        options: dict[str, Any] = {"auth": settings.auth(), "tls": settings.tls()}
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
