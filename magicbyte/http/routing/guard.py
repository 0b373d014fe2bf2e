"""Sign-in: finds out the sender of each request before its route is called."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from magicbyte.http.asgi import Scope, header
from magicbyte.http.errors import INTERNAL, TOO_MANY_FAILURES, UNAUTHORIZED
from magicbyte.http.routing.application import Api
from magicbyte.http.routing.identity import BODY_CHECK, IDENTITY, PEER, peer_of, target_of, with_digest
from magicbyte.http.routing.request import Request
from magicbyte.http.settings import HttpSettings
from magicbyte.kit.errors import ApiError, ErrorKind
from magicbyte.kit.logs.repeats import OccasionalWarning
from magicbyte.security.forwarded_identity import ForgedIdentity, IdentitySigner
from magicbyte.security.metrics import METRICS
from magicbyte.security.principal import Principal, Refusal
from magicbyte.security.rights.authorizer import Authorizer
from magicbyte.security.settings import LOG
from magicbyte.security.sign_in.authenticator import Authenticator
from magicbyte.security.watch import Source

log = logging.getLogger("magicbyte.security")

_FORGED = "a forwarded identity from %s is refused: %s"
_KINDS = {kind.code: kind for kind in (UNAUTHORIZED, TOO_MANY_FAILURES)}


class Guard:
    """Returns the principal of each request, and refuses requests without valid credentials."""

    def __init__(self, settings: HttpSettings, *, realm: str, audience: str) -> None:
        """Load users, keys and rules.

        Args:
            settings: The settings; they require sign-in.
            realm: The realm of the challenges if the settings name none.
            audience: The group of nodes that forward requests to each other.

        Raises:
            Failure: A file or key set cannot be used.
        """
        self.authenticator = Authenticator(settings, realm=realm, counts=METRICS.authentications)
        self.skipped_paths = frozenset(settings.skip_paths)
        #: Decides by the access rules; None if every principal may do everything.
        self.authorizer: Authorizer | None = None
        if settings.has_rules:
            # The rules in a log are available only after the log has been read.
            path = None if settings.rule_store == LOG else Path(settings.rule_store.removeprefix("file:"))
            self.authorizer = Authorizer(
                settings.super_users, path, METRICS.authorizations, is_dry_run=settings.dry_run
            )
            if path is not None:
                self.authorizer.require_use(str(path))
        self._warn_of_forgery = OccasionalWarning(log, "forged_identity", _FORGED)
        secret = settings.instance_secret
        #: Signs the identities of forwarded requests; None if there is no secret.
        self.signer = (
            IdentitySigner(secret, settings.previous_instance_secret, audience) if secret is not None else None
        )

    @property
    def sources(self) -> Sequence[Source]:
        """The objects to reload when their files change."""
        keys = self.authenticator.keys
        rules = [self.authorizer] if self.authorizer is not None and self.authorizer.paths else []
        return [self.authenticator, *rules, *([keys] if keys is not None and keys.paths else [])]

    def guarding(self, api: Api) -> Api:
        """Return an application with this guard's functions for sign-in."""
        return replace(
            api, identify=self.recall, sign_in=self.sign_in, skipped_paths=self.skipped_paths, is_guarded=True
        )

    def proof(self, request: Request, target: str, body_digest: str) -> str:
        """Return the header that proves to another node who sent a request.

        Args:
            request: The request.
            target: The raw path and query of the forwarded request.
            body_digest: The digest of the request's body.

        Raises:
            ApiError: 500 if there is no secret; the check of the settings prevents that.
        """
        if self.signer is None:
            log.error(
                "a request cannot be forwarded: set magicbyte.inter.instance.secret",
                extra={"event": "instance_secret_missing"},
            )
            raise INTERNAL()
        address = self.client_address(request.scope)
        return self.signer.sign(request.principal, address, request.method, target, body_digest)

    def recall(self, scope: Scope) -> Principal | None:
        """Return the principal if the same credentials were verified recently; takes microseconds."""
        return self.authenticator.recall(scope["headers"], peer_of(scope))

    async def sign_in(self, scope: Scope) -> Principal:
        """Verify the credentials of a request.

        Raises:
            ApiError: 400, 401, 403, 429, 503.
        """
        identity = header(scope, IDENTITY)
        if identity is not None and self.signer is not None:
            return self._forwarded(scope, identity, self.signer)
        outcome = await self.authenticator.authenticate(scope["headers"], peer_of(scope))
        if isinstance(outcome, Refusal):
            raise refused(outcome, has_body=_has_body(scope))
        return outcome

    async def sender_if_known(self, scope: Scope) -> Principal | None:
        """Return the sender of a request to an open route; None without valid credentials."""
        outcome = await self.authenticator.authenticate(scope["headers"], peer_of(scope))
        return None if isinstance(outcome, Refusal) else outcome

    async def is_still_good(self, principal: Principal, scope: Scope) -> bool:
        """Tell whether the credentials of a request that is still being answered are still valid.

        Args:
            principal: The sender.
            scope: The request.
        """
        return await self.authenticator.is_still_good(principal, scope["headers"], peer_of(scope))

    def client_address(self, scope: Scope) -> str:
        """Return the client's address; behind a trusted proxy or a forwarding node, the address that it reports."""
        return self.authenticator.client_of(scope["headers"], peer_of(scope).address)

    def _forwarded(self, scope: Scope, identity: str, signer: IdentitySigner) -> Principal:
        try:
            forwarded = signer.verify(identity, scope["method"], target_of(scope))
        except ForgedIdentity as error:
            raise self._refuse_forged(peer_of(scope).address, str(error), has_body=_has_body(scope)) from None
        METRICS.authentications["FORWARDED", "success"] += 1
        node = peer_of(scope)
        scope[PEER] = replace(node, address=forwarded.address)
        scope[BODY_CHECK] = partial(
            with_digest,
            digest=forwarded.body_digest,
            refuse=lambda: self._refuse_forged(node.address, "its request has another body", has_body=False),
        )
        return forwarded.principal

    def _refuse_forged(self, address: str, reason: str, *, has_body: bool) -> ApiError:
        """Count and log a forged identity; return its refusal, the same as for any other bad credentials."""
        METRICS.authentications["FORWARDED", "failure"] += 1
        self._warn_of_forgery(address, reason, address=address)
        return refused(self.authenticator.unauthorized(), has_body=has_body)


def refused(refusal: Refusal, *, has_body: bool) -> ApiError:
    """Return the error for a refusal."""
    # Each challenge has a line of its own: several clients read only the first challenge of a line.
    headers = [("www-authenticate", challenge) for challenge in refusal.challenges]
    if refusal.retry_after is not None:
        headers.append(("retry-after", str(refusal.retry_after)))
    if has_body:
        # The body is not read, because it may be long, so the connection cannot be used again.
        headers.append(("connection", "close"))
    kind = _KINDS.get(refusal.status) or ErrorKind(refusal.status, "{text}")
    return ApiError(kind, {"text": refusal.message}, headers=tuple(headers))


def _has_body(scope: Scope) -> bool:
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and value != b"0")
        for name, value in scope["headers"]
    )
