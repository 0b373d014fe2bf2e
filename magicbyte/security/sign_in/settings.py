"""The servers' sign-in settings, under Confluent's property names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field

from magicbyte.kit.settings import SettingsError
from magicbyte.kit.settings.server import ServerSettings, list_of, parts_of
from magicbyte.security.principal import Network, parse_networks
from magicbyte.security.sign_in.certificate_names import MappingRule, parse_mapping_rules
from magicbyte.security.sign_in.key_set import ALGORITHMS

METHODS = ("BASIC", "BEARER", "SSL")
#: Paths that may be open to clients without sign-in; patterns are not allowed.
SKIPPABLE = frozenset(
    (
        "/",
        "/metrics",
        "/openapi.json",
        "/docs",
        "/schemas/types",
        "/v1/metadata/id",
        "/v1/metadata/version",
        "/v1/metadata/deployment",
        "/health/live",
        "/health/ready",
        "/health/startup",
        "/_health",
        "/master_available",
    )
)
_HANDLER = re.compile(r"(?:[\w$]+\.)*AuthenticationHandler")
_MECHANISMS = {"SSL": "SSL", "JETTY_AUTH": "BASIC"}
#: Confluent's plug-in names for settings that have a shorter name here.
_OLD_RULES = (
    "confluent.schema.registry.auth.ssl.principal.mapping.rules",
    "confluent.rest.auth.ssl.principal.mapping.rules",
)
_OLD_METHOD = "confluent.schema.registry.auth.mechanism"


def _methods(value: Any) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(map(str.upper, parts_of(value))))
    if names in ((), ("NONE",)):
        return ()
    for name in names:
        if name not in METHODS:
            raise ValueError(f"{name} is not kept here; use NONE, or a list of {', '.join(METHODS)}")
    return names


def _skipped(value: Any) -> tuple[str, ...]:
    paths = parts_of(value)
    for path in paths:
        if path not in SKIPPABLE:
            raise ValueError(
                f"{path} can't be left without sign-in; only whole paths out of {', '.join(sorted(SKIPPABLE))}"
            )
    return paths


class SignInSettings(ServerSettings):
    """The accepted kinds of credentials, and how they are verified."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    methods: Annotated[tuple[str, ...], BeforeValidator(_methods)] = Field((), alias="authentication.method")
    realm: str = Field("", alias="authentication.realm")
    #: `**` for any user, `*` for any group, otherwise one of the groups.
    roles: Annotated[tuple[str, ...], BeforeValidator(parts_of)] = Field(("**",), alias="authentication.roles")
    skip_paths: Annotated[tuple[str, ...], BeforeValidator(_skipped)] = Field((), alias="authentication.skip.paths")
    users_files: Annotated[tuple[str, ...], BeforeValidator(parts_of)] = Field((), alias="magicbyte.users.file")
    login_config: str | None = Field(None, alias="java.security.auth.login.config")
    anonymous_access: bool = Field(False, alias="magicbyte.anonymous.access")
    plaintext_credentials: bool = Field(False, alias="magicbyte.allow.plaintext.credentials")
    cache_seconds: float = Field(300, alias="magicbyte.authentication.cache.seconds", ge=0)
    failure_ms: int = Field(150, alias="magicbyte.authentication.failure.ms", ge=0, le=10_000)
    failures_per_minute: int = Field(30, alias="magicbyte.authentication.failures.per.minute", ge=1)
    trusted_proxies: Annotated[tuple[Network, ...], BeforeValidator(lambda value: parse_networks(str(value)))] = Field(
        (), alias="magicbyte.trusted.proxies"
    )
    mapping_rules: Annotated[
        tuple[MappingRule, ...], BeforeValidator(lambda value: parse_mapping_rules(str(value)))
    ] = Field((MappingRule(None),), alias="ssl.principal.mapping.rules")

    keys_url: str = Field("", alias="oauthbearer.jwks.endpoint.url")
    issuer: str | None = Field(None, alias="oauthbearer.expected.issuer")
    audience: str | None = Field(None, alias="oauthbearer.expected.audience")
    name_claim: str = Field("sub", alias="oauthbearer.sub.claim.name", min_length=1)
    groups_claim: str = Field("groups", alias="oauthbearer.groups.claim.name", min_length=1)
    skew_seconds: float = Field(30, alias="oauthbearer.clock.skew.seconds", ge=0, le=600)
    keys_refresh_ms: int = Field(300_000, alias="oauthbearer.jwks.endpoint.refresh.ms", ge=1000)
    keys_max_stale_seconds: float = Field(86_400, alias="magicbyte.oauthbearer.jwks.max.stale.seconds", gt=0)
    algorithms: Annotated[frozenset[str], BeforeValidator(list_of(*ALGORITHMS))] = Field(
        frozenset(("RS256", "PS256", "ES256", "EdDSA")), alias="magicbyte.oauthbearer.algorithms"
    )
    max_lifetime_seconds: float = Field(86_400, alias="magicbyte.oauthbearer.max.lifetime.seconds", gt=0)

    @property
    def is_open(self) -> bool:
        """Whether no sign-in is required."""
        return not self.methods

    def check_sign_in(self, listeners: Mapping[str, bool], *, asks_for_certificates: bool) -> None:
        """Check that the sign-in settings are consistent with each other and with the listeners.

        Args:
            listeners: The scheme of each kind of listener -> whether one of them can be reached from other machines.
            asks_for_certificates: Whether clients are asked for a certificate.

        Raises:
            SettingsError: They are not; the text names a property and the remedy.
        """
        if "BASIC" in self.methods and not (self.users_files or self.login_config):
            raise SettingsError("magicbyte.users.file: BASIC needs users; make a file with `magicbyte user add`")
        if "BEARER" in self.methods:
            for name, value in (
                ("oauthbearer.expected.issuer", self.issuer),
                ("oauthbearer.expected.audience", self.audience),
            ):
                if not value:
                    raise SettingsError(f"{name}: BEARER needs it; tokens of others would be accepted without")
        if "SSL" in self.methods and not asks_for_certificates:
            raise SettingsError("ssl.client.authentication: SSL as a method needs REQUESTED or REQUIRED")
        carries_secrets = "BASIC" in self.methods or "BEARER" in self.methods
        if carries_secrets and listeners.get("http") and not self.plaintext_credentials:
            raise SettingsError(
                "listeners: passwords and tokens would cross the network in the clear; use https://, a loopback"
                " address, or magicbyte.allow.plaintext.credentials=true behind a proxy that speaks TLS"
            )
        if self.anonymous_access and not self.methods:
            raise SettingsError("magicbyte.anonymous.access: set authentication.method; everybody is anonymous without")


def with_confluents_names(properties: Mapping[str, str]) -> dict[str, str]:
    """Translate the names that Confluent's servers and plug-ins use for the same settings.

    Raises:
        SettingsError: A plug-in or method is not supported.
    """
    translated = dict(properties)
    for old in _OLD_RULES:
        if old in translated:
            translated.setdefault("ssl.principal.mapping.rules", translated.pop(old))
    if _OLD_METHOD in translated:
        value = translated.pop(_OLD_METHOD).strip().upper()
        if value not in _MECHANISMS:
            raise SettingsError(f"{_OLD_METHOD}: {value} is not kept here; use {' or '.join(_MECHANISMS)}")
        translated.setdefault("authentication.method", _MECHANISMS[value])
    handlers = translated.pop("rest.servlet.initializor.classes", "").strip()
    if handlers:
        if not _HANDLER.fullmatch(handlers) or not any(name.startswith("oauthbearer.") for name in translated):
            raise SettingsError(f"rest.servlet.initializor.classes: {handlers} is a plug-in, which is not kept here")
        translated.setdefault("authentication.method", "BEARER")
    return translated
