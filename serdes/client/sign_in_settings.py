"""Settings for the sign-in of a registry client: Basic, a token, OAuth credentials, or those of the Kafka client."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from msgspec.structs import replace

from magicbyte.kit.settings.kinds import choice, text
from magicbyte.kit.settings.section import Section, setting, settings_of
from serdes.client.auth import Auth, Basic, Bearer, ClientCredentials, Target
from serdes.setting_kinds import ANY

_BASIC_SOURCE = "basic.auth.credentials.source"
_BEARER_SOURCE = "bearer.auth.credentials.source"
_STATIC = "STATIC_TOKEN"
_OAUTH = "OAUTHBEARER"
_INHERIT = "SASL_INHERIT"
_OAUTH_INHERIT = "SASL_OAUTHBEARER_INHERIT"
_CUSTOM = "CUSTOM"
_SOURCES = (_STATIC, _OAUTH, _OAUTH_INHERIT, _CUSTOM)

#: The settings of the Kafka client that a source uses, which are needed but for the scope.
_OF_KAFKA = {
    _INHERIT: ("sasl.username", "sasl.password"),
    _OAUTH_INHERIT: (
        "sasl.oauthbearer.token.endpoint.url",
        "sasl.oauthbearer.client.id",
        "sasl.oauthbearer.client.secret",
        "sasl.oauthbearer.scope",
    ),
}
_KAFKA_SCOPE = "sasl.oauthbearer.scope"
#: The settings of the Kafka client that `SASL_INHERIT` and `SASL_OAUTHBEARER_INHERIT` use.
INHERITED = frozenset(name for names in _OF_KAFKA.values() for name in names)
#: The settings that a source of bearer tokens needs, and those that it may have.
_NEEDED = {
    _STATIC: ("bearer.auth.token",),
    _OAUTH: ("bearer.auth.issuer.endpoint.url", "bearer.auth.client.id", "bearer.auth.client.secret"),
    _CUSTOM: ("bearer.auth.custom.provider.function",),
}
_OPTIONAL = {_OAUTH: ("bearer.auth.scope",), _CUSTOM: ("bearer.auth.custom.provider.config",)}
#: The settings for all sources of bearer tokens.
_FOR_ALL = (_BEARER_SOURCE, "bearer.auth.logical.cluster", "bearer.auth.identity.pool.id")
_TEXT = text()


class SignInRows(Section):
    """Settings for the sign-in of a registry client."""

    basic_user: str | None = setting(
        _TEXT, "`NAME:PASSWORD`, or `ID:SECRET` of an API key.", "basic.auth.user.info", default=None, secret=True
    )
    basic_source: str | None = setting(
        choice("USER_INFO", "URL", _INHERIT),
        "`USER_INFO`: `basic.auth.user.info`. `URL`: `https://NAME:PASSWORD@host`. `SASL_INHERIT`: the `sasl.username`"
        " and `sasl.password` of the Kafka client, in tools that have one.",
        "basic.auth.credentials.source",
        default=None,
        default_words="`USER_INFO` or `URL`, as given",
    )
    token: str | None = setting(_TEXT, "A token.", "bearer.auth.token", default=None, secret=True)
    bearer_source: str | None = setting(
        choice(*_SOURCES),
        "`STATIC_TOKEN`: `bearer.auth.token`. `OAUTHBEARER`: client credentials, by the next settings."
        " `SASL_OAUTHBEARER_INHERIT`: the credentials of the Kafka client. `CUSTOM`: a Python function.",
        "bearer.auth.credentials.source",
        default=None,
        default_words="`STATIC_TOKEN` with a token",
    )
    issuer: str | None = setting(
        _TEXT, "OAuth client credentials: the token endpoint.", "bearer.auth.issuer.endpoint.url", default=None
    )
    client_id: str | None = setting(_TEXT, "The client's id.", "bearer.auth.client.id", default=None)
    client_secret: str | None = setting(
        _TEXT, "The client's secret.", "bearer.auth.client.secret", default=None, secret=True
    )
    scope: str | None = setting(_TEXT, "The scope of the token.", "bearer.auth.scope", default=None)
    logical_cluster: str | None = setting(
        _TEXT,
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
    argument: Any = setting(
        replace(ANY, shapes=(object, bool)),
        "What this function takes.",
        "bearer.auth.custom.provider.config",
        default=None,
    )
    inherited: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def problems(self) -> Iterable[tuple[str, str]]:
        """Settings that contradict or need each other."""
        values = {row.name: getattr(self, row.field) for row in settings_of(SignInRows)}
        given = [name for name, value in values.items() if value is not None]
        basic = [name for name in given if name.startswith("basic.auth.")]
        bearer = [name for name in given if name.startswith("bearer.auth.")]
        source = self._source
        if bearer and basic:
            yield _BEARER_SOURCE, f"bearer.auth.* cannot be combined with {basic[0]}; keep one way to sign in"
        elif bearer and source is None:
            yield _BEARER_SOURCE, f"is needed with {bearer[0]}; set it to {' or '.join(_SOURCES)}"
        elif source is not None:
            needed = (*_NEEDED.get(source, ()), *(name for name in _OF_KAFKA.get(source, ()) if name != _KAFKA_SCOPE))
            for name in needed:
                if name not in self.inherited and name not in given:
                    yield name, f"is needed with {_BEARER_SOURCE}={source}"
            used = {*needed, *_OPTIONAL.get(source, ()), *_FOR_ALL}
            yield from (
                (name, f"has no effect with {_BEARER_SOURCE}={source}; remove it")
                for name in bearer
                if name not in used
            )
        else:
            yield from self._basic_problems()

    def _basic_problems(self) -> Iterable[tuple[str, str]]:
        user_info = "basic.auth.user.info"
        if self.basic_source == _INHERIT:
            for name in _OF_KAFKA[_INHERIT]:
                if name not in self.inherited:
                    yield name, f"is needed with {_BASIC_SOURCE}={_INHERIT}"
        elif self.basic_user is None and self.basic_source == "USER_INFO":
            yield user_info, f"is needed with {_BASIC_SOURCE}=USER_INFO; write user:password"
        elif self.basic_user is not None and ":" not in self.basic_user:
            yield user_info, "must be user:password"

    @property
    def _source(self) -> str | None:
        """The source of bearer tokens; as in Java, a token without a source is static."""
        return self.bearer_source or (None if self.token is None else _STATIC)

    def auth(self) -> Auth | None:
        """The credentials; None without any."""
        source = self._source
        if source is None:
            return self._basic()
        target = Target(self.logical_cluster, ",".join(self.pool) if isinstance(self.pool, list | tuple) else self.pool)
        if source == _OAUTH:
            return ClientCredentials(str(self.issuer), str(self.client_id), str(self.client_secret), self.scope, target)
        if source == _OAUTH_INHERIT:
            url, client_id, secret, scope = (self.inherited.get(name) for name in _OF_KAFKA[_OAUTH_INHERIT])
            return ClientCredentials(str(url), str(client_id), str(secret), scope, target)
        if source == _CUSTOM:
            function, argument = self.function, self.argument
            return Bearer(lambda: function(argument)["bearer.auth.token"], target)
        return Bearer(str(self.token), target)

    def _basic(self) -> Basic | None:
        if self.basic_source == _INHERIT:
            user, password = (str(self.inherited[name]) for name in _OF_KAFKA[_INHERIT])
            return Basic(user, password)
        if self.basic_user is None:
            return None
        user, _, password = self.basic_user.partition(":")
        return Basic(user, password)


def take_inherited(rest: dict[str, Any]) -> dict[str, Any]:
    """Remove and return the Kafka client's settings that the sources of a client's settings use."""
    sources = (rest.get(_BASIC_SOURCE), rest.get(_BEARER_SOURCE))
    used = [name for source in sources for name in _OF_KAFKA.get(str(source), ())]
    return {name: rest.pop(name) for name in used if name in rest}
