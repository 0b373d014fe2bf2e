"""The security settings of a server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field

from magicbyte.kit.secret import Secret, is_secret
from magicbyte.kit.settings import patterns
from magicbyte.kit.settings.property_words import Takes
from magicbyte.kit.settings.server import Reloaded, raise_problems
from magicbyte.security.sign_in.plug_in_names import with_confluents_names
from magicbyte.security.sign_in.settings import SignInSettings
from magicbyte.security.tls.settings import OptionalSecret, TlsSettings

_SHORTEST_SECRET = 32
#: Property -> the value that disables it, or None. A property that cannot be honoured is refused, not ignored.
_NOT_KEPT = {
    "allow.everyone.if.no.acl.found": "what no rule allows is never allowed",
    "api.endpoints.allowlist": "the REST proxy keeps it, and no other server",
    "api.endpoints.blocklist": "the REST proxy keeps it, and no other server",
    "magicbyte.audit.output": "there is no audit log yet",
    "magicbyte.audit.events": "there is no audit log yet",
    "magicbyte.audit.on.failure": "there is no audit log yet",
    "magicbyte.kafka.identity": "the proxy always asks Kafka under its own name",
    "confluent.rest.auth.propagate.method": "the proxy always asks Kafka under its own name",
}
#: The setting for rules in the registry's log.
LOG = "log"
_HARMLESS = frozenset(("", "false", "none", "own"))


def _long_enough(value: Any) -> Secret | None:
    if value in (None, ""):
        return None
    if len(str(value)) < _SHORTEST_SECRET:
        raise ValueError(f"must have at least {_SHORTEST_SECRET} characters")
    return Secret(str(value))


def _principals(value: Any) -> frozenset[str]:
    names = frozenset(name.strip() for name in str(value).split(";") if name.strip())
    for name in names:
        if not name.startswith(("User:", "Group:")) or name.endswith((":", ":*")):
            raise ValueError(f"{name} must be User:NAME or Group:NAME; write a semicolon between two")
    return names


def _store(value: str) -> str:
    if value and not value.removeprefix("file:").strip():
        raise ValueError("write file: and a path")
    if value and value != LOG and not value.startswith("file:"):
        raise ValueError(f"{value} is no store; write {LOG}, or file: and the path of a file of rules")
    return value


class SecuritySettings(TlsSettings, SignInSettings):
    """Settings for TLS, sign-in, access rules, and the trust between nodes."""

    title = "Access rules, and trust between nodes"

    authorization: Literal["acl", "none"] = Field(
        "acl",
        alias="magicbyte.authorization",
        description="`acl`: with sign-in, access rules decide. `none`: everybody who signs in may do everything.",
    )
    dry_run: bool = Field(
        False,
        alias="magicbyte.authorization.dry.run",
        description="Requests that the rules deny are allowed, counted "
        '(`magicbyte_authorization_total{outcome="dry_run"}`) and logged once a minute; only the '
        "rules themselves stay protected. Use it to introduce rules. Not together with "
        "`magicbyte.anonymous.access`.",
    )
    super_users: Annotated[
        frozenset[str], BeforeValidator(_principals), Takes("`User:NAME` and `Group:NAME`, with semicolons between")
    ] = Field(frozenset(), alias="super.users", description="Principals that no rule restricts.")
    #: The store of rules: `log`, or `file:` and a path; empty for the server's default.
    acl_store: Annotated[
        str,
        AfterValidator(_store),
        Takes(
            "`log`, or `file:` and a path",
            default="`log` in the registry; the proxy needs one",
            schema=patterns.texts(rf"(?:{LOG}|file:.*\S.*)?"),
        ),
        Reloaded(),
    ] = Field(
        "",
        alias="magicbyte.acl.store",
        description="`log`: [the registry's log](security.md#rules-in-the-registrys-log). `file:` and a path: "
        "a file, such as one from a repository.",
    )
    instance_secret: Annotated[Secret | None, BeforeValidator(_long_enough)] = Field(
        None,
        alias="magicbyte.inter.instance.secret",
        description="The secret of all nodes, of at least 32 characters, with which they prove who sent a "
        "forwarded request.",
    )
    #: All properties as given, for the Kafka clients; they may contain secrets.
    properties: Mapping[str, str] = Field(default_factory=dict, exclude=True, repr=False)
    previous_instance_secret: OptionalSecret = Field(
        None,
        alias="magicbyte.inter.instance.secret.previous",
        description="The secret before, while the nodes change to a new one.",
    )

    @classmethod
    def not_kept(cls) -> Mapping[str, str]:
        """Properties that ask for a protection this server lacks -> the text of the refusal."""
        return _NOT_KEPT

    @property
    def rule_store(self) -> str:
        """The store of rules: `log`, or `file:` and a path; empty if there are no rules."""
        return self.acl_store if self.has_rules else ""

    @property
    def holds_secrets(self) -> bool:
        """Whether this process has passwords, keys or tokens, its own or its clients'."""
        return not self.is_open or any(value and is_secret(name) for name, value in self.properties.items())

    @property
    def has_rules(self) -> bool:
        """Whether access rules decide what a principal may do."""
        return not self.is_open and self.authorization == "acl"

    @classmethod
    def from_properties(cls, properties: Mapping[str, str]) -> Self:
        """Check and convert the properties.

        Raises:
            SettingsError: A value is wrong, or a property asks for a protection that does not exist; it is named.
        """
        not_kept = cls.not_kept()
        asked = (name for name in not_kept if properties.get(name, "").strip().lower() not in _HARMLESS)
        raise_problems(f"{name}: {not_kept[name]}" for name in asked)
        kept = {name: value for name, value in properties.items() if name not in not_kept}
        return super().from_properties(with_confluents_names(kept))

    def check_security(self, listeners: Mapping[str, bool]) -> None:
        """Check that the security settings are consistent with each other and with the listeners.

        Args:
            listeners: The scheme of each kind of listener -> whether one of them can be reached from other machines.

        Raises:
            SettingsError: They are not; the text has a line for each conflict, with a property and the remedy.
        """
        raise_problems(self.security_conflicts(listeners))
        self.check_tls(listeners)

    def security_conflicts(self, listeners: Mapping[str, bool]) -> Iterator[str]:
        """Conflicts of the security settings with each other and with the listeners, each with the remedy.

        Args:
            listeners: As in `check_security`.
        """
        yield from self.tls_conflicts(listeners)
        yield from self.sign_in_conflicts(listeners, asks_for_certificates=self.demanded_certificates != "NONE")
        if self.has_rules and not self.rule_store:
            yield (
                "magicbyte.acl.store: set file: and the path of a file of rules, log for the rules in the registry's"
                " log, or magicbyte.authorization=none, so that everybody who signs in may do everything"
            )
        if self.dry_run and (not self.has_rules or self.anonymous_access):
            yield (
                "magicbyte.authorization.dry.run: rules are tried out on clients that sign in; set"
                " authentication.method and magicbyte.authorization=acl, and not magicbyte.anonymous.access"
            )
        if not self.has_rules and (self.acl_store or self.super_users):
            name = "magicbyte.acl.store" if self.acl_store else "super.users"
            yield f"{name}: without authentication.method, or with magicbyte.authorization=none, no rule is kept"
