"""Signs in who sends a request, before its route is answered."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from magicbyte.http.asgi import Scope, header
from magicbyte.http.errors import INTERNAL, TOO_MANY_FAILURES, UNAUTHORIZED
from magicbyte.http.routing.application import Api
from magicbyte.http.routing.identity import BODY_DIGEST, IDENTITY, PEER, peer_of, target_of
from magicbyte.http.routing.request import Request
from magicbyte.http.settings import HttpSettings
from magicbyte.kit.errors import ApiError, ErrorKind
from magicbyte.security.forwarded_identity import ForgedIdentity, IdentitySigner
from magicbyte.security.metrics import METRICS
from magicbyte.security.principal import Principal, Refusal
from magicbyte.security.rights.authorizer import Authorizer
from magicbyte.security.settings import LOG
from magicbyte.security.sign_in.authenticator import Authenticator
from magicbyte.security.watch import Source

log = logging.getLogger("magicbyte.security")

_KINDS = {kind.code: kind for kind in (UNAUTHORIZED, TOO_MANY_FAILURES)}


class Guard:
    """Tells the principal of each request; without credentials that are good there is none."""

    def __init__(self, settings: HttpSettings, *, realm: str, audience: str) -> None:
        """Load users and keys.

        Args:
            settings: The settings, in which sign-in is asked for.
            realm: The realm of the challenges, if the settings name none.
            audience: The group of nodes that forward requests to each other.

        Raises:
            Failure: A file or key set cannot be used.
        """
        self.authenticator = Authenticator(settings, realm=realm, counts=METRICS.authentications)
        self.skipped_paths = frozenset(settings.skip_paths)
        #: Decides by rules; None if everybody who signs in may do everything.
        self.authorizer: Authorizer | None = None
        if settings.has_rules:
            # The rules of a log are there when it has been read.
            path = None if settings.rule_store == LOG else Path(settings.rule_store.removeprefix("file:"))
            self.authorizer = Authorizer(
                settings.super_users, path, METRICS.authorizations, is_dry_run=settings.dry_run
            )
            if path is not None:
                self.authorizer.require_use(str(path))
        secret = settings.instance_secret
        #: Signs the identities of requests that are forwarded; None if there is no secret.
        self.signer = (
            IdentitySigner(secret, settings.previous_instance_secret, audience) if secret is not None else None
        )

    @property
    def sources(self) -> Sequence[Source]:
        """What is loaded again when its files change."""
        keys = self.authenticator.keys
        rules = [self.authorizer] if self.authorizer is not None and self.authorizer.paths else []
        return [self.authenticator, *rules, *([keys] if keys is not None and keys.paths else [])]

    def guarding(self, api: Api) -> Api:
        """Return an application's parts with this guard in their seams."""
        return replace(
            api, identify=self.recall, sign_in=self.sign_in, skipped_paths=self.skipped_paths, is_guarded=True
        )

    def proof(self, request: Request, target: str, body_digest: str) -> str:
        """Return the header that proves to another node who sent a request.

        Args:
            request: The request.
            target: The raw path and query that the other node is asked for.
            body_digest: The digest of its body.

        Raises:
            ApiError: 500 if there is no secret, which the check of the settings has asked for.
        """
        if self.signer is None:
            log.error("a request cannot be forwarded: set magicbyte.inter.instance.secret")
            raise INTERNAL()
        address = self.client_address(request.scope)
        return self.signer.sign(request.principal, address, request.method, target, body_digest)

    def recall(self, scope: Scope) -> Principal | None:
        """Return the principal if the same credentials were verified lately; takes microseconds."""
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

    async def is_still_good(self, principal: Principal, scope: Scope) -> bool:
        """Tell whether the credentials of a request are good that is still being answered.

        Args:
            principal: Who sent it.
            scope: The request.
        """
        return await self.authenticator.is_still_good(principal, scope["headers"], peer_of(scope))

    def client_address(self, scope: Scope) -> str:
        """Return the address of the client, which a trusted proxy or a forwarding node may have told."""
        return self.authenticator.client_of(scope["headers"], peer_of(scope).address)

    def _forwarded(self, scope: Scope, identity: str, signer: IdentitySigner) -> Principal:
        try:
            forwarded = signer.verify(identity, scope["method"], target_of(scope))
        except ForgedIdentity as error:
            METRICS.authentications["FORWARDED", "failure"] += 1
            log.warning("a forwarded identity is refused: %s", error, extra={"address": peer_of(scope).address})
            # The same as for any other credentials that are not good.
            raise refused(self.authenticator.unauthorized(), has_body=_has_body(scope)) from None
        METRICS.authentications["FORWARDED", "success"] += 1
        scope[PEER] = replace(peer_of(scope), address=forwarded.address)
        scope[BODY_DIGEST] = forwarded.body_digest
        return forwarded.principal


def refused(refusal: Refusal, *, has_body: bool) -> ApiError:
    """Return the error that answers a refusal."""
    headers: dict[str, str] = {}
    if refusal.challenges:
        headers["www-authenticate"] = ", ".join(refusal.challenges)
    if refusal.retry_after is not None:
        headers["retry-after"] = str(refusal.retry_after)
    if has_body:
        # Nobody has asked for the body, which may be long.
        headers["connection"] = "close"
    kind = _KINDS.get(refusal.status) or ErrorKind(refusal.status, "{text}")
    return ApiError(kind, {"text": refusal.message}, headers=headers)


def _has_body(scope: Scope) -> bool:
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and value != b"0")
        for name, value in scope["headers"]
    )
