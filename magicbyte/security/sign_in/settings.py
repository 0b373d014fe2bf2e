"""The servers' sign-in settings, under Confluent's property names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field

from magicbyte.kit.settings import patterns
from magicbyte.kit.settings.kinds import ProblemError
from magicbyte.kit.settings.place import nearest
from magicbyte.kit.settings.property_words import Takes
from magicbyte.kit.settings.server import (
    CommaList,
    Milliseconds,
    Reloaded,
    Seconds,
    ServerSettings,
    list_of,
    parts_of,
    raise_problems,
)
from magicbyte.security.principal import Network, parse_networks
from magicbyte.security.sign_in.certificate_names import MappingRule, parse_mapping_rules
from magicbyte.security.sign_in.key_set import ALGORITHMS
from magicbyte.security.sign_in.plug_in_names import MECHANISMS, OLD_HANDLERS, OLD_METHOD, OLD_RULES, RULES

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


def _methods(value: Any) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(map(str.upper, parts_of(value))))
    if names in ((), ("NONE",)):
        return ()
    for name in names:
        if name not in METHODS:
            near = nearest(name, METHODS)
            raise ProblemError(f"{name} is not supported; use NONE, or a list of {', '.join(METHODS)}{near}")
    return names


def _skipped(value: Any) -> tuple[str, ...]:
    paths = parts_of(value)
    for path in paths:
        if path not in SKIPPABLE:
            raise ProblemError(
                f"{path} cannot be left without sign-in; use whole paths out of {', '.join(sorted(SKIPPABLE))}"
            )
    return paths


class SignInSettings(ServerSettings):
    """The accepted kinds of credentials, and how they are verified."""

    title = "Sign-in"

    model_config = ConfigDict(arbitrary_types_allowed=True)

    methods: Annotated[
        tuple[str, ...],
        BeforeValidator(_methods),
        Takes(
            f"NONE, or a list of {', '.join(METHODS)}",
            default="`NONE`",
            schema=patterns.list_of(patterns.words("NONE", *METHODS)),
        ),
    ] = Field(
        (),
        alias="authentication.method",
        description="Which credentials clients may use. With other words or plug-in classes the server "
        "refuses to start.",
    )
    realm: Annotated[str, Takes("a text", default="`SchemaRegistry`; for the proxy `KafkaRest`")] = Field(
        "", alias="authentication.realm", description="The realm of the challenges, and the section of a JAAS file."
    )
    #: `**` for any user, `*` for any group, otherwise one of the groups.
    roles: CommaList = Field(
        ("**",),
        alias="authentication.roles",
        description="Groups. A Basic user must be in one of them; `*`: in any group; `**`: no group is "
        "needed; empty: nobody gets in. Others are answered 403 `!role`.",
    )
    skip_paths: Annotated[
        tuple[str, ...],
        BeforeValidator(_skipped),
        Takes("paths, with commas between", schema=patterns.list_of(patterns.exactly(*sorted(SKIPPABLE)))),
    ] = Field(
        (),
        alias="authentication.skip.paths",
        description="Whole paths that need no sign-in, out of `/`, `/metrics`, `/openapi.json`, `/docs`, "
        "`/schemas/types`, `/v1/metadata/*` and the health paths.",
    )
    users_files: Annotated[CommaList, Reloaded()] = Field(
        (), alias="magicbyte.users.file", description="Files of users and keys."
    )
    login_config: Annotated[str | None, Takes("a path"), Reloaded()] = Field(
        None,
        alias="java.security.auth.login.config",
        description="Confluent's JAAS file with Jetty's `PropertyFileLoginModule`; read with a warning.",
    )
    anonymous_access: bool = Field(
        False,
        alias="magicbyte.anonymous.access",
        description="Whether a client that sends no credentials is `User:ANONYMOUS`.",
    )
    plaintext_credentials: bool = Field(
        False,
        alias="magicbyte.allow.plaintext.credentials",
        description="Whether passwords and tokens may cross the network in the clear; for servers behind a "
        "proxy that speaks TLS.",
    )
    cache_seconds: Seconds = Field(
        300,
        alias="magicbyte.authentication.cache.seconds",
        description="Time for which a success is remembered, by a keyed digest. No secret is kept.",
        ge=0,
    )
    failure_ms: Milliseconds = Field(
        150,
        alias="magicbyte.authentication.failure.ms",
        description="A failure is answered this long after the request, so that the time reveals neither "
        "names nor kinds of hashes.",
        ge=0,
        le=10_000,
    )
    failures_per_minute: int = Field(
        30,
        alias="magicbyte.authentication.failures.per.minute",
        description="Maximum number of failures of a client address in a minute, after 20 at once. Further "
        "failures are answered 429. Other users behind the address can still sign in: each of "
        "them may fail as often, and credentials that were right before are always verified. "
        "Clients that have signed in are not affected.",
        ge=1,
    )
    trusted_proxies: Annotated[
        tuple[Network, ...],
        BeforeValidator(lambda value: parse_networks(str(value))),
        Takes("addresses and networks, with commas between"),
    ] = Field(
        (),
        alias="magicbyte.trusted.proxies",
        description="Networks whose `X-Forwarded-For` gives the address of a client.",
    )
    mapping_rules: Annotated[
        tuple[MappingRule, ...],
        BeforeValidator(lambda value: parse_mapping_rules(str(value))),
        Takes("`RULE:pattern/replacement/[L|U]` and `DEFAULT`, with commas between", default="`DEFAULT`"),
    ] = Field(
        (MappingRule(None),),
        alias="ssl.principal.mapping.rules",
        description="Kafka's rules, which make a name of a certificate's subject.",
    )

    keys_url: Annotated[str, Takes("a URL", default="discovery, from the issuer"), Reloaded()] = Field(
        "",
        alias="oauthbearer.jwks.endpoint.url",
        description="Where the keys are: `https://`, `file:///`, or `http://` on this machine.",
    )
    issuer: Annotated[str | None, Takes("a text", default="needed with BEARER")] = Field(
        None, alias="oauthbearer.expected.issuer", description="`iss` of a token must equal it exactly."
    )
    audience: Annotated[str | None, Takes("a text", default="needed with BEARER")] = Field(
        None, alias="oauthbearer.expected.audience", description="One `aud` of a token must equal it exactly."
    )
    name_claim: str = Field(
        "sub",
        alias="oauthbearer.sub.claim.name",
        description="The claim with the name; a dotted path leads into objects.",
        min_length=1,
    )
    groups_claim: str = Field(
        "groups",
        alias="oauthbearer.groups.claim.name",
        description="The claim with the groups; a dotted path leads into objects.",
        min_length=1,
    )
    skew_seconds: Seconds = Field(
        30,
        alias="oauthbearer.clock.skew.seconds",
        description="Greatest accepted difference between clocks.",
        ge=0,
        le=600,
    )
    keys_refresh_ms: Milliseconds = Field(
        300_000,
        alias="oauthbearer.jwks.endpoint.refresh.ms",
        description="The age at which keys are fetched again. An unknown key id causes at most one fetch in 30 s.",
        ge=1000,
    )
    keys_max_stale_seconds: Seconds = Field(
        86_400,
        alias="magicbyte.oauthbearer.jwks.max.stale.seconds",
        description="The age from which keys are no longer trusted: 503.",
        gt=0,
    )
    algorithms: Annotated[
        frozenset[str],
        BeforeValidator(list_of(*ALGORITHMS)),
        Takes(f"a list of {', '.join(ALGORITHMS)}", schema=patterns.list_of(patterns.exactly(*ALGORITHMS))),
    ] = Field(
        frozenset(("RS256", "PS256", "ES256", "EdDSA")),
        alias="magicbyte.oauthbearer.algorithms",
        description="Signatures that are accepted. With HMAC or `none` the server refuses to start.",
    )
    max_lifetime_seconds: Seconds = Field(
        86_400,
        alias="magicbyte.oauthbearer.max.lifetime.seconds",
        description="Longest accepted time until `exp`.",
        gt=0,
    )

    @classmethod
    def older_names(cls) -> Mapping[str, str]:
        """Names that Confluent's plug-ins use for the same settings -> the names here."""
        return {**super().older_names(), **dict.fromkeys(OLD_RULES, RULES)}

    @classmethod
    def translated(cls) -> Mapping[str, str]:
        """Properties of Confluent's plug-ins that set the methods."""
        return {
            **super().translated(),
            OLD_METHOD: f"{' or '.join(MECHANISMS)}; authentication.method has the same effect.",
            OLD_HANDLERS: "Confluent's AuthenticationHandler; authentication.method=BEARER has the same effect.",
        }

    @property
    def is_open(self) -> bool:
        """Whether no sign-in is required."""
        return not self.methods

    def sign_in_conflicts(self, listeners: Mapping[str, bool], *, asks_for_certificates: bool) -> Iterator[str]:
        """Conflicts of the sign-in settings with each other and with the listeners, each with the remedy.

        Args:
            listeners: The scheme of each kind of listener -> whether one of them can be reached from other machines.
            asks_for_certificates: Whether clients are asked for a certificate.
        """
        if "BASIC" in self.methods and not (self.users_files or self.login_config):
            yield "magicbyte.users.file: BASIC needs users; make a file with `magicbyte user add`"
        if "BEARER" in self.methods:
            for name, value in (
                ("oauthbearer.expected.issuer", self.issuer),
                ("oauthbearer.expected.audience", self.audience),
            ):
                if not value:
                    yield f"{name}: BEARER needs this setting; without it, tokens for other services would be accepted"
        if "SSL" in self.methods and not asks_for_certificates:
            yield "ssl.client.authentication: SSL as a method needs REQUESTED or REQUIRED"
        carries_secrets = "BASIC" in self.methods or "BEARER" in self.methods
        if carries_secrets and listeners.get("http") and not self.plaintext_credentials:
            yield (
                "listeners: passwords and tokens would cross the network in the clear; use https://, a loopback"
                " address, or magicbyte.allow.plaintext.credentials=true behind a proxy that speaks TLS"
            )
        if self.anonymous_access and not self.methods:
            yield "magicbyte.anonymous.access: set authentication.method; everybody is anonymous without"

    def check_sign_in(self, listeners: Mapping[str, bool], *, asks_for_certificates: bool) -> None:
        """Check the sign-in settings.

        Args:
            listeners: As in `sign_in_conflicts`.
            asks_for_certificates: As there.

        Raises:
            SettingsError: There are conflicts; the text has a line for each.
        """
        raise_problems(self.sign_in_conflicts(listeners, asks_for_certificates=asks_for_certificates))
