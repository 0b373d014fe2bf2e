"""SASL authentication of Kafka clients: Java's properties translated for librdkafka, and tokens for AWS MSK."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from magicbyte.kit.extras import require
from magicbyte.kit.failure import Failure

log = logging.getLogger("magicbyte.kit.kafka.client_settings")


class KafkaSettingsError(Failure, ValueError):
    """A Kafka client property cannot be applied; the text names it and says what to do."""


MECHANISM = "sasl.mechanism"
JAAS = "sasl.jaas.config"
TOKEN_ENDPOINT = "sasl.oauthbearer.token.endpoint.url"  # noqa: S105 - a property's name

#: Properties whose values are names of Java classes.
_HANDLERS = ("sasl.login.callback.handler.class", "sasl.client.callback.handler.class", "sasl.login.class")

#: Properties that `sasl_config` translates; all others are librdkafka's names or Java-only.
PROPERTIES = frozenset((MECHANISM, "sasl.mechanisms", JAAS, *_HANDLERS))

#: Options of a JAAS line: `... required username="u" password="p";`
_JAAS_OPTION = re.compile(r"""([\w.]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s;"']+))""")
_JAAS_NAMES = {
    "username": "sasl.username",
    "password": "sasl.password",
    "clientId": "sasl.oauthbearer.client.id",
    "clientSecret": "sasl.oauthbearer.client.secret",
    "scope": "sasl.oauthbearer.scope",
    "keyTab": "sasl.kerberos.keytab",
    "principal": "sasl.kerberos.principal",
}
#: A SASL extension, such as the `extension_logicalCluster` of Confluent Cloud.
_JAAS_EXTENSION = "extension_"

#: The Java class that calls the token endpoint, in its old and new package; librdkafka does this itself.
_ASKS_ENDPOINT = re.compile(
    r"org\.apache\.kafka\.common\.security\.oauthbearer\.(secured\.)?OAuthBearerLoginCallbackHandler"
)
_MSK_CLASSES = "software.amazon.msk.auth.iam."
_MSK_MECHANISM = "AWS_MSK_IAM"
#: A region in a broker's name, such as `b-1.orders.a1b2c3.c2.kafka.eu-west-1.amazonaws.com:9098`.
_MSK_REGION = re.compile(r"\.kafka(?:-serverless)?\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?(?::|,|$)")


def sasl_config(properties: Mapping[str, str]) -> dict[str, Any]:
    """Return the librdkafka configuration for Java's SASL properties.

    Args:
        properties: all properties of the client.

    Raises:
        KafkaSettingsError: OAUTHBEARER has no way to get a token, or MSK has no region.
        ExtraMissing: The mechanism is AWS MSK's, and its signer is not installed.
    """
    options = _jaas_options(properties.get(JAAS, ""))
    mechanism = properties.get(MECHANISM) or properties.get("sasl.mechanisms", "")
    handlers = {name: properties[name] for name in _HANDLERS if properties.get(name)}
    if mechanism == _MSK_MECHANISM or any(name.startswith(_MSK_CLASSES) for name in handlers.values()):
        return {MECHANISM: "OAUTHBEARER", "oauth_cb": _msk_token(options, properties)}
    config: dict[str, Any] = {MECHANISM: mechanism} if mechanism else {}
    config |= {_JAAS_NAMES[name]: value for name, value in options.items() if name in _JAAS_NAMES}
    if TOKEN_ENDPOINT in properties:
        config["sasl.oauthbearer.method"] = "oidc"
    if mechanism == "OAUTHBEARER":
        _check_oauth(properties, handlers)
    else:
        for name in handlers:
            warn_left_out(name)
    extensions = [
        f"{name.removeprefix(_JAAS_EXTENSION)}={value}"
        for name, value in options.items()
        if name.startswith(_JAAS_EXTENSION)
    ]
    return config | ({"sasl.oauthbearer.extensions": ",".join(extensions)} if extensions else {})


def warn_left_out(name: str) -> None:
    """Log that a property is Java-only."""
    log.warning(
        "the Kafka client property %s has no counterpart here and is left out",
        name,
        extra={"event": "client_property_ignored", "property": name},
    )


def _check_oauth(properties: Mapping[str, str], handlers: Mapping[str, str]) -> None:
    """Check that the client can get a token; without one, it would try to connect for ever."""
    for name, value in handlers.items():
        if not _ASKS_ENDPOINT.fullmatch(value):
            raise KafkaSettingsError(
                f"{name}: {value} is a Java class, which cannot be run here; give {TOKEN_ENDPOINT}, and clientId and"
                f" clientSecret in {JAAS}"
            )
    if not any(name.startswith(("sasl.oauthbearer.", "enable.sasl.oauthbearer.")) for name in properties):
        raise KafkaSettingsError(f"{MECHANISM}: OAUTHBEARER needs {TOKEN_ENDPOINT}, where the client gets its tokens")


def _jaas_options(jaas: str) -> dict[str, str]:
    """Return the options of a JAAS line by name."""
    return {
        name: bare or re.sub(r"\\(.)", r"\1", double or single)
        for name, double, single, bare in _JAAS_OPTION.findall(jaas)
    }


@dataclass(frozen=True, slots=True)
class MskToken:
    """Signs tokens for AWS MSK with IAM credentials; librdkafka calls it before a token expires.

    Attributes:
        region: the cluster's AWS region.
        profile: a profile of the AWS configuration; if neither it nor `role` is set, AWS's default credential chain.
        role: the ARN of a role to assume.
        session: the name of the assumed role's session.
    """

    region: str
    profile: str | None = None
    role: str | None = None
    session: str | None = None

    def __call__(self, _config: str) -> tuple[str, float]:
        """Return a token and its expiry time, in seconds since 1970."""
        try:
            token, expires_ms = self._sign()
        except Exception as error:
            # The client library only says that there is no token; the signer raises AttributeError without credentials.
            reason = "AWS has no credentials here" if isinstance(error, AttributeError) else error
            log.error(  # noqa: TRY400
                "no token for AWS MSK: %s (environment, profile, or the machine's role)",
                reason,
                extra={"event": "msk_token_failed", "error": reason},
            )
            raise
        return token, expires_ms / 1000

    def _sign(self) -> tuple[str, int]:
        from aws_msk_iam_sasl_signer import MSKAuthTokenProvider  # noqa: PLC0415 - in an extra

        signed: tuple[str, int]
        if self.role is not None:
            session = {} if self.session is None else {"sts_session_name": self.session}
            signed = MSKAuthTokenProvider.generate_auth_token_from_role_arn(self.region, self.role, **session)
        elif self.profile is not None:
            signed = MSKAuthTokenProvider.generate_auth_token_from_profile(self.region, self.profile)
        else:
            signed = MSKAuthTokenProvider.generate_auth_token(self.region)
        return signed


def _msk_token(options: Mapping[str, str], properties: Mapping[str, str]) -> MskToken:
    require("msk", user=f"{MECHANISM}={_MSK_MECHANISM}")
    region_match = _MSK_REGION.search(properties.get("bootstrap.servers", ""))
    region = region_match[1] if region_match else os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if not region:
        raise KafkaSettingsError(
            f"{MECHANISM}: {_MSK_MECHANISM} needs the cluster's region, which bootstrap.servers does not name;"
            " set AWS_REGION"
        )
    role = options.get("awsRoleArn")
    return MskToken(region, options.get("awsProfileName"), role, options.get("awsRoleSessionName") if role else None)
