"""The servers' TLS settings, under Confluent's property names."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field

from magicbyte.kit.secret import Secret
from magicbyte.kit.settings import patterns
from magicbyte.kit.settings.kinds import choice
from magicbyte.kit.settings.property_words import Takes
from magicbyte.kit.settings.server import Reloaded, ServerSettings, list_of, parts_of, raise_problems
from magicbyte.security.tls.ciphers import openssl_ciphers

log = logging.getLogger("magicbyte.security")

_NO_EFFECT = "OpenSSL serves TLS here, not Java"
_WITHOUT_EFFECT = dict.fromkeys(
    (
        "ssl.protocol",
        "ssl.provider",
        "ssl.keymanager.algorithm",
        "ssl.trustmanager.algorithm",
        "ssl.spire.enabled",
        "ssl.spire.agent.socket.address",
    ),
    _NO_EFFECT,
)
PROTOCOLS = ("TLSv1.2", "TLSv1.3")
_DEMANDS = choice("NONE", "REQUESTED", "REQUIRED", spell=str.upper)


def _secret(value: Any) -> Secret | None:
    return Secret(str(value)) if value not in (None, "") else None


def _upper(value: Any) -> Any:
    return value.upper() if isinstance(value, str) else value


def _suites(value: Any) -> str:
    return openssl_ciphers(parts_of(value))


OptionalSecret = Annotated[Secret | None, BeforeValidator(_secret)]
FilePath = Annotated[str | None, Takes("a path"), Reloaded()]
_Pem = Annotated[str | None, Takes("PEM")]
_StoreType = Annotated[str | None, Takes("PEM or PKCS12", default="by content")]


class TlsSettings(ServerSettings):
    """The sources of keys and certificates, and the certificates that clients must present."""

    title = "TLS"

    model_config = ConfigDict(arbitrary_types_allowed=True)

    keystore_location: FilePath = Field(
        None,
        alias="ssl.keystore.location",
        description="The server's key and chain: a PEM file with both, or a PKCS#12 store. A JKS store is "
        "refused with the `keytool` line that converts it.",
    )
    keystore_type: _StoreType = Field(None, alias="ssl.keystore.type", description="The type of that file.")
    keystore_password: OptionalSecret = Field(
        None, alias="ssl.keystore.password", description="The password of a PKCS#12 store."
    )
    key_password: OptionalSecret = Field(
        None, alias="ssl.key.password", description="The password of an encrypted PEM key."
    )
    keystore_key: OptionalSecret = Field(
        None,
        alias="ssl.keystore.key",
        description="The same key as a PEM text in the value, on one line or several (KIP-651).",
    )
    keystore_chain: _Pem = Field(
        None, alias="ssl.keystore.certificate.chain", description="The same chain as a PEM text in the value."
    )
    certificate_location: FilePath = Field(
        None, alias="ssl.certificate.location", description="The same chain as a PEM file."
    )
    key_location: FilePath = Field(
        None,
        alias="ssl.key.location",
        description="The same key as a PEM file; it is set together with `ssl.certificate.location`.",
    )
    ca_location: FilePath = Field(
        None, alias="ssl.ca.location", description="The same authorities as a PEM file, under the name of librdkafka."
    )
    truststore_location: FilePath = Field(
        None,
        alias="ssl.truststore.location",
        description="The authorities whose client certificates are accepted: PEM or PKCS#12. The system's "
        "authorities are never trusted for clients.",
    )
    truststore_type: _StoreType = Field(None, alias="ssl.truststore.type", description="The type of that file.")
    truststore_password: OptionalSecret = Field(
        None, alias="ssl.truststore.password", description="The password of a PKCS#12 store."
    )
    truststore_certificates: _Pem = Field(
        None, alias="ssl.truststore.certificates", description="The same authorities as PEM texts in the value."
    )
    crl_location: FilePath = Field(
        None,
        alias="magicbyte.ssl.crl.location",
        description="Revocation lists as PEM, one for each authority that issues client certificates. After "
        "the `nextUpdate` of a list, every client of its authority is refused.",
    )
    client_authentication: (
        Annotated[
            Literal["NONE", "REQUESTED", "REQUIRED"],
            BeforeValidator(_upper),
            Takes(_DEMANDS.words, default="`NONE`", schema=_DEMANDS.schema),
        ]
        | None
    ) = Field(
        None,
        alias="ssl.client.authentication",
        description="`REQUIRED`: no connection without a trusted certificate. `REQUESTED`: a client may "
        "connect without a certificate, but a bad one ends the handshake.",
    )
    client_auth: bool = Field(
        False,
        alias="ssl.client.auth",
        description="With `true`, the older name for `ssl.client.authentication=REQUIRED`.",
    )
    protocols: Annotated[
        tuple[str, ...],
        BeforeValidator(list_of(*PROTOCOLS)),
        Takes(f"a list of {' and '.join(PROTOCOLS)}", schema=patterns.list_of(patterns.exactly(*PROTOCOLS))),
    ] = Field(
        PROTOCOLS,
        alias="ssl.enabled.protocols",
        description="The versions of TLS. With any other the server refuses to start.",
    )
    ciphers: Annotated[
        str,
        BeforeValidator(_suites),
        Takes("IANA names, with commas between", default="ECDHE with AES-GCM or ChaCha20"),
    ] = Field(
        openssl_ciphers(()),
        alias="ssl.cipher.suites",
        description="Suites for TLS 1.2. With suites that use CBC, RSA key exchange or NULL the server "
        "refuses to start.",
    )
    keystore_reload: bool = Field(
        True, alias="ssl.keystore.reload", description="Whether the server loads changed files without a restart."
    )
    watch_location: FilePath = Field(
        None, alias="ssl.keystore.watch.location", description="One more path. If it changes, the server reloads."
    )
    #: For outgoing connections to other nodes; an empty value disables the check of the host name.
    endpoint_identification: Annotated[
        str, Takes("https, or nothing", schema=choice("https", "", spell=str.lower).schema)
    ] = Field(
        "https",
        alias="ssl.endpoint.identification.algorithm",
        description="Outgoing connections check the other node's host name. An empty value switches that off, "
        "with a warning at every start.",
    )

    @classmethod
    def without_effect(cls) -> Mapping[str, str]:
        """Java's TLS properties that have no effect here, each with the reason."""
        return {**super().without_effect(), **_WITHOUT_EFFECT}

    @property
    def demanded_certificates(self) -> Literal["NONE", "REQUESTED", "REQUIRED"]:
        """The requirement for client certificates; the older `ssl.client.auth=true` means REQUIRED."""
        return self.client_authentication or ("REQUIRED" if self.client_auth else "NONE")

    @property
    def has_key(self) -> bool:
        """Whether a private key of this server is configured."""
        return bool(self.keystore_location or self.keystore_key or self.certificate_location)

    @property
    def has_trust(self) -> bool:
        """Whether trusted certificates are configured."""
        return bool(self.truststore_location or self.truststore_certificates or self.ca_location)

    def tls_conflicts(self, schemes: Collection[str]) -> Iterator[str]:
        """Conflicts of the TLS settings with each other and with the listeners: texts with a property and the remedy.

        Args:
            schemes: The schemes of the listeners.
        """
        yield from self._conflicts_of_sources()
        demands = self.demanded_certificates != "NONE"
        if "https" in schemes and not self.has_key:
            yield "listeners: https:// needs a key and certificate; set ssl.keystore.location"
        if demands and "https" not in schemes:
            yield "ssl.client.authentication: no listener is https://, so no client could be asked"
        elif demands and not self.has_trust:
            yield "ssl.client.authentication: set ssl.truststore.location, which says whom to trust"
        if self.crl_location and not demands:
            yield "magicbyte.ssl.crl.location: set ssl.client.authentication; nothing else uses the list"
        if self.endpoint_identification.lower() not in ("https", ""):
            yield "ssl.endpoint.identification.algorithm: use https, or nothing to switch it off"

    def check_tls(self, schemes: Collection[str]) -> None:
        """Check the TLS settings; logs a warning if host names of other nodes are not checked.

        Args:
            schemes: The schemes of the listeners.

        Raises:
            SettingsError: There are conflicts; the text has a line for each.
        """
        raise_problems(self.tls_conflicts(schemes))
        if not self.endpoint_identification:
            log.warning(
                "ssl.endpoint.identification.algorithm is empty: the host names of other nodes are not checked, so any"
                " holder of a trusted certificate can take a node's place",
                extra={"event": "node_names_unchecked"},
            )

    def _conflicts_of_sources(self) -> Iterator[str]:
        keys = {
            "ssl.keystore.location": self.keystore_location,
            "ssl.keystore.key": self.keystore_key,
            "ssl.certificate.location": self.certificate_location,
        }
        given_keys = [name for name, value in keys.items() if value]
        if len(given_keys) > 1:
            yield f"{given_keys[1]}: {given_keys[0]} names a key too; keep one of them"
        if bool(self.certificate_location) != bool(self.key_location):
            yield "ssl.key.location: set it together with ssl.certificate.location"
        if bool(self.keystore_key) != bool(self.keystore_chain):
            yield "ssl.keystore.key: set it together with ssl.keystore.certificate.chain"
        trusts = {
            "ssl.truststore.location": self.truststore_location,
            "ssl.truststore.certificates": self.truststore_certificates,
            "ssl.ca.location": self.ca_location,
        }
        given_trusts = [name for name, value in trusts.items() if value]
        if len(given_trusts) > 1:
            yield f"{given_trusts[1]}: {given_trusts[0]} names trusted certificates too; keep one of them"
