"""The cipher suites that the servers accept, under their IANA names."""

from __future__ import annotations

import logging

log = logging.getLogger("magicbyte.security")

#: TLS 1.2 suites with forward secrecy and authenticated encryption -> their OpenSSL names, strongest first.
_TLS_1_2 = {
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384": "ECDHE-ECDSA-AES256-GCM-SHA384",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384": "ECDHE-RSA-AES256-GCM-SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-ECDSA-CHACHA20-POLY1305",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-RSA-CHACHA20-POLY1305",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256": "ECDHE-ECDSA-AES128-GCM-SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256": "ECDHE-RSA-AES128-GCM-SHA256",
}
#: The TLS 1.3 suites; Python cannot select among them, and all are secure.
_TLS_1_3 = ("TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_GCM_SHA256")


def openssl_ciphers(names: tuple[str, ...]) -> str:
    """Return OpenSSL's cipher list for IANA names; without names, for all allowed suites.

    Raises:
        ValueError: A name is unknown, or its suite lacks forward secrecy or authenticated encryption.
    """
    for name in names:
        if name not in _TLS_1_2 and name not in _TLS_1_3:
            raise ValueError(
                f"{name} is not allowed: a suite needs ECDHE and authenticated encryption;"
                f" choose from {', '.join((*_TLS_1_2, *_TLS_1_3))}"
            )
    chosen = [_TLS_1_2[name] for name in names if name in _TLS_1_2]
    named_1_3 = [name for name in names if name in _TLS_1_3]
    if named_1_3 and len(set(named_1_3)) < len(_TLS_1_3):
        log.warning(
            "ssl.cipher.suites: all three suites of TLS 1.3 stay enabled, not only %s",
            ", ".join(named_1_3),
            extra={"event": "cipher_suites_kept"},
        )
    return ":".join(chosen or _TLS_1_2.values())
