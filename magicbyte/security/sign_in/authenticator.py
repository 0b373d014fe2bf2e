"""Identifies the sender of a request by its credentials."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from magicbyte.security.principal import (
    ANONYMOUS,
    Headers,
    Peer,
    Principal,
    Refusal,
    client_network,
    client_of,
    lies_in,
)
from magicbyte.security.sign_in.basic import canonical_basic, parse_basic
from magicbyte.security.sign_in.bearer import InvalidToken, TokenRules, read_header, verify
from magicbyte.security.sign_in.certificate_names import name_of, subject_of
from magicbyte.security.sign_in.failures import FailureLimit
from magicbyte.security.sign_in.jaas import load_property_users, users_file_of
from magicbyte.security.sign_in.key_set import KeySet, KeySetError, KeysUnavailable
from magicbyte.security.sign_in.passwords import TOO_MANY_FAILURES, Passwords
from magicbyte.security.sign_in.remembered import Remembered, Verified
from magicbyte.security.sign_in.settings import SignInSettings
from magicbyte.security.sign_in.users import User, load_users

log = logging.getLogger("magicbyte.security")

_KEYS_TOO_OLD = Refusal(503, "The keys that sign bearer tokens cannot be fetched", retry_after=30)
_TWO_HEADERS = Refusal(400, "There is more than one Authorization header")


class Authenticator:
    """Verifies credentials, remembers successes, and limits failures.

    It is used from one event loop; `reload` may be called from any thread.
    """

    name = "users"

    def __init__(self, settings: SignInSettings, *, realm: str, counts: Counter[tuple[str, str]] | None = None) -> None:
        """Load users and keys.

        Args:
            settings: The settings, already checked.
            realm: The realm if the settings name none.
            counts: Counts outcomes by method, for metrics.

        Raises:
            Failure: A file or a key set cannot be used.
        """
        self._settings = settings
        self.realm = settings.realm or realm
        #: (method, outcome) -> the number of such outcomes.
        self.counts: Counter[tuple[str, str]] = Counter() if counts is None else counts
        self._remembered = Remembered(settings.cache_seconds)
        self._failures = FailureLimit(settings.failures_per_minute)
        self.passwords = Passwords(self._failures, settings.failures_per_minute)
        self._subjects: dict[bytes, str | None] = {}
        self._users: dict[str, User] = {}
        self._epoch = 0
        self._fetching: asyncio.Task[None] | None = None
        self._rules = TokenRules(
            settings.issuer or "",
            settings.audience or "",
            settings.algorithms,
            settings.name_claim,
            settings.groups_claim,
            settings.skew_seconds,
            settings.max_lifetime_seconds,
        )
        self.reload()
        self.keys: KeySet | None = None
        if "BEARER" in settings.methods:
            self.keys = KeySet(
                settings.keys_url,
                issuer=settings.issuer or "",
                refresh_seconds=settings.keys_refresh_ms / 1000,
                max_stale_seconds=settings.keys_max_stale_seconds,
                on_change=self._forget,
            )
            self.keys.refresh()

    @property
    def paths(self) -> Sequence[Path]:
        """The files to watch."""
        settings = self._settings
        files = [Path(file) for file in settings.users_files]
        if settings.login_config:
            config = Path(settings.login_config)
            files += [config, users_file_of(config, self.realm)]
        return files

    def reload(self) -> None:
        """Load the users again; a change clears the remembered credentials.

        Raises:
            Failure: A file cannot be used; the users remain unchanged.
        """
        settings = self._settings
        users = load_users([Path(file) for file in settings.users_files])
        if settings.login_config:
            property_users = load_property_users(users_file_of(Path(settings.login_config), self.realm))
            users = {**property_users, **users}
        self._users = users
        self._forget()

    def _forget(self) -> None:
        """Verify all credentials again; may be called from any thread."""
        self._epoch += 1
        self._remembered.clear()

    def close(self) -> None:
        """Stop the thread that verifies passwords."""
        self.passwords.close()

    def recall(self, headers: Headers, peer: Peer) -> Principal | None:
        """Return the principal of recently verified credentials; takes a microsecond."""
        credentials: bytes | None = None
        for name, value in headers:
            if name == b"authorization":
                if credentials is not None:
                    return None
                credentials = value
        if credentials is None:
            return None
        verified = self._remembered.verified(self._remembered.digest(credentials))
        if verified is None:
            return None
        if verified.networks and not lies_in(self.client_of(headers, peer.address), verified.networks):
            return None
        return verified.principal if isinstance(self._with_role(verified.principal), Principal) else None

    async def is_still_good(self, principal: Principal, headers: Headers, peer: Peer) -> bool:
        """Tell whether credentials that were valid when an answer began are still valid; usually takes a microsecond.

        Args:
            principal: The sender.
            headers: The headers of the request.
            peer: The other end of the connection.
        """
        if principal.expires is not None and time.time() >= principal.expires:
            return False
        if not any(name == b"authorization" for name, _ in headers):
            # Without a header, the identity depends only on the connection and the time.
            return True
        if self.recall(headers, peer) == principal:
            return True
        return await self.authenticate(headers, peer) == principal

    async def authenticate(self, headers: Headers, peer: Peer) -> Principal | Refusal:
        """Return the sender of a request, or the reason to refuse it.

        Args:
            headers: The request's headers; names in lower case.
            peer: The other end of the connection.
        """
        values = [value for name, value in headers if name == b"authorization"]
        peer = replace(peer, address=self.client_of(headers, peer.address))
        if len(values) > 1:
            return _TWO_HEADERS
        if values:
            outcome = await self._from_header(values[0], peer)
        elif peer.certificate is not None and "SSL" in self._settings.methods:
            outcome = await self._from_certificate(peer.certificate, peer)
        elif self._settings.anonymous_access:
            outcome = Verified(ANONYMOUS)
        else:
            return self.unauthorized()
        if isinstance(outcome, Refusal):
            return outcome
        self.counts[outcome.principal.method, "success"] += 1
        return self._with_role(outcome.principal)

    async def _from_header(self, header: bytes, peer: Peer) -> Verified | Refusal:
        came = time.monotonic()
        scheme, _, value = header.partition(b" ")
        method = {b"basic": "BASIC", b"bearer": "BEARER"}.get(scheme.lower(), "")
        credentials = parse_basic(value.strip()) if method == "BASIC" else None
        # The same credentials in another spelling are known, too; else each spelling would take a slow hash.
        header = b"%s %s" % (method.capitalize().encode(), value.strip())
        digest = self._remembered.digest(header if credentials is None else canonical_basic(*credentials))
        verified = self._remembered.verified(digest)
        if verified is not None and (not verified.networks or lies_in(peer.address, verified.networks)):
            return verified
        # The same credentials may be valid from another address.
        failed = self._remembered.digest(digest + peer.address.encode())
        refusal = self._remembered.failure(failed)
        if refusal is None:
            epoch = self._epoch
            outcome: Verified | Refusal | None
            if credentials is not None and "BASIC" in self._settings.methods:
                outcome = await self._basic(*credentials, digest, peer)
            else:
                outcome = await self._quickly(method, value.strip(), client_network(peer.address))
            if isinstance(outcome, Verified):
                if epoch == self._epoch:
                    self._remembered.add(digest, outcome)
                return outcome
            if outcome is not None and outcome.status == 503:
                return outcome
            refusal = outcome or self.unauthorized(invalid_token=method == "BEARER")
            # A 429 is not remembered: for a name whose password is not verified now, it would say nothing.
            if epoch == self._epoch and outcome is None:
                self._remembered.add(failed, refusal)
        self.counts[method or "OTHER", "failure"] += 1
        # The response time reveals neither whether the name exists nor the kind of its hash.
        await asyncio.sleep(max(0.0, came + self._settings.failure_ms / 1000 - time.monotonic()))
        return refusal

    async def _basic(self, name: str, secret: bytes, digest: bytes, peer: Peer) -> Verified | Refusal | None:
        user = self._users.get(name)
        if user is not None and not user.may_sign_in(peer.address):
            user = None
        matches = await self.passwords.verify(user, secret, digest, client_network(peer.address))
        if isinstance(matches, Refusal):
            return matches
        if not matches or user is None:
            return None
        principal = Principal(user.principal, user.groups, "BASIC", user.expires)
        return Verified(principal, user.networks)

    async def _quickly(self, method: str, value: bytes, network: str) -> Verified | Refusal | None:
        """Verify what takes no slow hash: a token, or credentials that are malformed.

        A failure counts for the network, and is 429 if it has used up its failures; nothing that is valid is refused.
        """
        if method == "BEARER" and "BEARER" in self._settings.methods:
            outcome = await self._bearer(value)
            if outcome is not None:
                return outcome
        wait = self._failures.seconds_to_wait(network)
        if wait:
            return Refusal(429, TOO_MANY_FAILURES, retry_after=wait)
        self._failures.count(network)
        return None

    async def _bearer(self, token: bytes) -> Verified | Refusal | None:
        assert self.keys is not None
        try:
            header = read_header(token, self._rules)
            key = self.keys.find(header.kid, header.algorithm)
            if key is None and (self._fetching is not None or self.keys.may_ask_for_unknown):
                await asyncio.shield(self._fetch())
                key = self.keys.find(header.kid, header.algorithm)
            elif self.keys.is_due:
                self._fetch()
            if key is None:
                return None
            return Verified(verify(token, header, key, self._rules))
        except InvalidToken as error:
            log.info(
                "a bearer token is refused: %s", error, extra={"event": "bearer_token_refused", "error": str(error)}
            )
            return None
        except KeysUnavailable:
            self._fetch()
            return _KEYS_TOO_OLD

    def _fetch(self) -> asyncio.Task[None]:
        """Fetch the keys in the background; only one fetch runs at a time."""
        if self._fetching is None:
            self._fetching = asyncio.get_running_loop().create_task(self._fetch_keys())
        return self._fetching

    async def _fetch_keys(self) -> None:
        assert self.keys is not None
        try:
            await asyncio.to_thread(self.keys.refresh)
        except KeySetError as error:
            log.warning(
                "the keys of bearer tokens stay as they are: %s",
                error,
                extra={"event": "token_keys_not_renewed", "error": str(error)},
            )
        finally:
            self._fetching = None

    async def _from_certificate(self, der: bytes, peer: Peer) -> Verified | Refusal:
        if der not in self._subjects:
            if len(self._subjects) >= 1000:
                self._subjects.clear()
            self._subjects[der] = None
            with suppress(ValueError):
                self._subjects[der] = name_of(subject_of(der), self._settings.mapping_rules)
        name = self._subjects[der]
        if name is None or (peer.certificate_expires is not None and time.time() >= peer.certificate_expires):
            self.counts["SSL", "failure"] += 1
            return self.unauthorized()
        principal = Principal(f"User:{name}", frozenset(), "SSL", peer.certificate_expires)
        return Verified(principal)

    def _with_role(self, principal: Principal) -> Principal | Refusal:
        roles = self._settings.roles
        if "**" in roles or principal.method != "BASIC":
            return principal
        if ("*" in roles and principal.groups) or any(f"Group:{role}" in principal.groups for role in roles):
            return principal
        return Refusal(403, "!role")

    def unauthorized(self, *, invalid_token: bool = False) -> Refusal:
        """Return the refusal of invalid credentials, with a challenge for each method."""
        challenges = []
        if "BASIC" in self._settings.methods:
            challenges.append(f'Basic realm="{self.realm}", charset="UTF-8"')
        if "BEARER" in self._settings.methods:
            suffix = ', error="invalid_token"' if invalid_token else ""
            challenges.append(f'Bearer realm="{self.realm}"{suffix}')
        return Refusal(401, "Unauthorized", tuple(challenges))

    def client_of(self, headers: Headers, address: str) -> str:
        """Return the client's address; see `magicbyte.security.principal.client_of`."""
        return client_of(headers, address, self._settings.trusted_proxies)
