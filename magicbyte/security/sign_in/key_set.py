"""The keys that sign bearer tokens: a JWK set from a URL or a file, kept up to date."""

from __future__ import annotations

import logging
import threading
import time
from base64 import urlsafe_b64decode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

from magicbyte.kit.failure import Failure

log = logging.getLogger("magicbyte.security")

_MAX_BYTES = 1 << 20
_MAX_KEYS = 100
_FETCH_SECONDS = 5.0
_UNKNOWN_KEY_SECONDS = 30.0
_MIN_RSA_BITS = 2048
#: Algorithm -> the key type and, for an elliptic curve, its name.
ALGORITHMS: Mapping[str, tuple[str, str | None]] = {
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), ("RSA", None)),
    "ES256": ("EC", "P-256"),
    "ES384": ("EC", "P-384"),
    "ES512": ("EC", "P-521"),
    "EdDSA": ("OKP", "Ed25519"),
}


class KeySetError(Failure):
    """A key set that cannot be fetched or read; the text names the URL."""


class KeysUnavailable(Exception):
    """The last key set is too old to be trusted, and no newer one could be fetched."""


class _Set(msgspec.Struct):
    keys: list[dict[str, Any]]


@dataclass(frozen=True, slots=True, repr=False)
class SigningKey:
    """One public key of a set."""

    kid: str | None
    algorithm: str | None
    type: str
    curve: str | None
    key: Any

    def fits(self, algorithm: str) -> bool:
        """Tell whether tokens of this algorithm may be signed with this key."""
        kind, curve = ALGORITHMS[algorithm]
        return self.type == kind and self.curve == curve and self.algorithm in (None, algorithm)


class KeySet:
    """The keys of an issuer.

    The caller's threads fetch the keys, one fetch at a time. `refresh` replaces the keys only by a set that could be
    read; until then the last one is used, at most for `max_stale_seconds`.
    """

    def __init__(
        self,
        url: str,
        *,
        issuer: str,
        refresh_seconds: float,
        max_stale_seconds: float,
        on_change: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create an empty set; call `refresh` before the first `find`.

        Args:
            url: https://, http:// on the loopback, or file:///; if empty, the issuer's discovery document names it.
            issuer: The expected issuer; a discovery document must name it.
            refresh_seconds: The age at which keys are fetched again.
            max_stale_seconds: The age from which keys are not trusted.
            on_change: Called in the thread that fetched, when a key was added, removed or replaced.
            clock: A monotonic clock, in seconds.

        Raises:
            KeySetError: The URL has another scheme.
        """
        self._url, self._issuer = url, issuer
        self._refresh_seconds, self._max_stale_seconds = refresh_seconds, max_stale_seconds
        self._on_change = on_change
        self._clock = clock
        self._keys: tuple[SigningKey, ...] = ()
        self._fetched = -float("inf")
        self._tried = -float("inf")
        self._fetching = threading.Lock()
        _check_url(url or issuer)

    name = "bearer-keys"

    @property
    def paths(self) -> Sequence[Path]:
        """The file to watch, if the keys come from one."""
        parts = urlsplit(self._url)
        return [Path(unquote(parts.path))] if parts.scheme == "file" else []

    def reload(self) -> None:
        """Read the file again.

        Raises:
            KeySetError: The file cannot be read; the keys remain unchanged.
        """
        self.refresh()

    @property
    def is_due(self) -> bool:
        """Whether the keys are so old that they must be fetched again."""
        now = self._clock()
        return now - self._fetched >= self._refresh_seconds and now - self._tried >= min(
            _UNKNOWN_KEY_SECONDS, self._refresh_seconds
        )

    @property
    def may_ask_for_unknown(self) -> bool:
        """Whether enough time has passed to fetch again because of an unknown key id."""
        return self._clock() - self._tried >= _UNKNOWN_KEY_SECONDS

    def find(self, kid: str | None, algorithm: str) -> SigningKey | None:
        """Return the key for a token; without a key id, the only key that fits.

        Raises:
            KeysUnavailable: The keys are too old.
        """
        if self._clock() - self._fetched > self._max_stale_seconds:
            raise KeysUnavailable
        fitting = [key for key in self._keys if key.fits(algorithm) and (kid is None or key.kid == kid)]
        return fitting[0] if len(fitting) == 1 else None

    def refresh(self) -> None:
        """Fetch the keys; blocks for up to 5 s, and shares a fetch that runs in another thread.

        Raises:
            KeySetError: They cannot be fetched or read; the keys remain unchanged.
        """
        asked = self._clock()
        with self._fetching:
            if self._tried > asked:
                return
            self._tried = self._clock()
            url = self._url or _discover(self._issuer)
            keys = parse_key_set(_fetch(url), url)
            # Compare whole keys: an issuer may replace a key under the same id.
            has_changed = list(map(_identity, keys)) != list(map(_identity, self._keys))
            self._keys, self._fetched = keys, self._clock()
        if has_changed:
            self._on_change()


def parse_key_set(data: bytes, url: str) -> tuple[SigningKey, ...]:
    """Parse a JWK set; keys that cannot verify accepted algorithms are skipped.

    Raises:
        KeySetError: It is not a JWK set, has too many keys, or has no usable key.
    """
    from joserfc.errors import JoseError  # noqa: PLC0415  only if tokens are accepted
    from joserfc.jwk import import_key  # noqa: PLC0415

    try:
        entries = msgspec.json.decode(data, type=_Set).keys
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise KeySetError(f"{url} is no JWK set") from None
    if len(entries) > _MAX_KEYS:
        raise KeySetError(f"{url} has {len(entries)} keys; at most {_MAX_KEYS} are read")
    keys: list[SigningKey] = []
    for entry in entries:
        if entry.get("kty") not in ("RSA", "EC", "OKP") or entry.get("use", "sig") != "sig":
            continue
        operations = entry.get("key_ops", ["verify"])
        if "verify" not in operations or not _is_optional_text(entry.get("kid"), entry.get("alg"), entry.get("crv")):
            continue
        public = {name: value for name, value in entry.items() if name in ("kty", "n", "e", "crv", "x", "y")}
        try:
            if entry["kty"] == "RSA" and _bits(public) < _MIN_RSA_BITS:
                log.warning(
                    "%s: an RSA key of less than %d bits is left out",
                    url,
                    _MIN_RSA_BITS,
                    extra={"event": "token_key_too_short", "url": url},
                )
                continue
            key = import_key(public)
        except (JoseError, KeyError, ValueError, TypeError):
            log.warning(
                "%s: a key that cannot be read is left out",
                url,
                extra={"event": "token_key_unreadable", "url": url},
            )
            continue
        keys.append(SigningKey(entry.get("kid"), entry.get("alg"), entry["kty"], entry.get("crv"), key))
    if not keys:
        raise KeySetError(f"{url} has no key that can verify a token")
    return tuple(keys)


def _identity(key: SigningKey) -> tuple[object, ...]:
    return key.kid, key.algorithm, sorted(key.key.as_dict(private=False).items())


def _bits(rsa: Mapping[str, Any]) -> int:
    return int.from_bytes(urlsafe_b64decode(rsa["n"] + "===")).bit_length()


def _is_optional_text(*values: object) -> bool:
    return all(value is None or isinstance(value, str) for value in values)


def _check_url(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme == "https" or (parts.scheme == "file" and not parts.netloc and parts.path):
        return
    if parts.scheme == "http" and _is_local(parts.hostname or ""):
        return
    raise KeySetError(f"{url}: keys come from https://, file:/// or, on this machine, http://")


def _is_local(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _discover(issuer: str) -> str:
    url = issuer.rstrip("/") + "/.well-known/openid-configuration"
    try:
        document = msgspec.json.decode(_fetch(url))
        named, keys = document["issuer"], document["jwks_uri"]
    except (msgspec.DecodeError, KeyError, TypeError):
        raise KeySetError(f"{url} names no issuer and jwks_uri") from None
    if named != issuer or not isinstance(keys, str):
        raise KeySetError(f"{url} is of another issuer than oauthbearer.expected.issuer")
    _check_url(keys)
    if keys.startswith("file:"):
        raise KeySetError(f"{url}: jwks_uri must be https://")
    return keys


def _fetch(url: str) -> bytes:
    parts = urlsplit(url)
    if parts.scheme == "file":
        try:
            data = Path(unquote(parts.path)).read_bytes()
        except OSError as error:
            raise KeySetError(f"{url} cannot be read: {error.strerror}") from None
        if len(data) > _MAX_BYTES:
            raise KeySetError(f"{url} is larger than 1 MiB")
        return data
    import httpx  # noqa: PLC0415  slow to import, and of no use without keys from a URL

    data, deadline = b"", time.monotonic() + _FETCH_SECONDS
    try:
        with (
            httpx.Client(trust_env=False, follow_redirects=False, timeout=_FETCH_SECONDS) as client,
            client.stream("GET", url, headers={"accept": "application/json"}) as answer,
        ):
            if answer.status_code != httpx.codes.OK:
                raise KeySetError(f"{url} answers {answer.status_code}; redirects are not followed")
            for part in answer.iter_bytes():
                data += part
                if len(data) > _MAX_BYTES:
                    raise KeySetError(f"{url} is larger than 1 MiB")
                if time.monotonic() > deadline:
                    raise KeySetError(f"{url} took longer than {_FETCH_SECONDS:g} s")
    except httpx.HTTPError as error:
        raise KeySetError(f"{url} cannot be fetched: {type(error).__name__}") from None
    return data
