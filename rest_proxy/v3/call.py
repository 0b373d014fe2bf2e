"""One request of v3: its cluster, the sender's rights, and the links in its answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from urllib.parse import unquote

from fastapi import Depends, Path
from pydantic import BeforeValidator, WithJsonSchema

from magicbyte.http.routing.request import Request
from rest_proxy.access.decisions import rights_of
from rest_proxy.access.rights import ProxyRights
from rest_proxy.admin.client import AdminClient
from rest_proxy.admin.lazy_client import LazyAdminClient
from rest_proxy.errors import NO_CLUSTER_ID
from rest_proxy.errors import NOT_FOUND as NOT_FOUND_BECAUSE
from rest_proxy.exchange.parts import optional_part, part_of
from rest_proxy.exchange.rate_limit import RateLimit
from rest_proxy.exchange.urls import base_url
from rest_proxy.settings import RestProxySettings
from rest_proxy.v3.links import Links
from rest_proxy.v3.route import V3Row


class Call:
    """The parts of a request that all of v3's handlers use.

    Attributes:
        request: The request.
        settings: The settings.
        cluster_id: The cluster's id, as the path names it; "" for paths without one.
        links: Makes the URLs in the answer.
    """

    __slots__ = ("_unknown_cluster", "cluster_id", "links", "request", "settings")

    def __init__(self, request: Request, cluster_id: str, *, unknown_cluster: str | None = None) -> None:
        """Read the request.

        Args:
            request: The request.
            cluster_id: The cluster's id; "" for paths that name no cluster.
            unknown_cluster: The text of the error if the path names another cluster than the proxy's; None if it may.
        """
        self.request = request
        self._unknown_cluster = unknown_cluster
        self.settings = settings = part_of(request, RestProxySettings)
        self.cluster_id = cluster_id
        prefix = request.match.parameters.get("prefix", "")
        self.links = Links(base_url(request, settings), prefix, cluster_id, settings.crn_authority)

    async def admin(self) -> AdminClient:
        """The admin client, once it is sure that the path's cluster is the proxy's.

        So a handler that first reads the body and checks the rights does not need a broker to refuse them.

        Raises:
            ApiError: As `require_cluster`.
        """
        await self.require_cluster()
        return await part_of(self.request, LazyAdminClient)()

    async def require_cluster(self) -> None:
        """Check that the path's cluster is the proxy's; for handlers that do without the admin client.

        Raises:
            ApiError: NOT_FOUND; NO_CLUSTER_ID if the brokers are too old to have an id.
        """
        text, self._unknown_cluster = self._unknown_cluster, None
        if text is None:
            return
        admin = await part_of(self.request, LazyAdminClient)()
        if self.cluster_id == await admin.cluster_id():
            return
        cluster_id = await admin.cluster_id(fresh=True)
        if cluster_id is None:
            raise NO_CLUSTER_ID()
        if self.cluster_id != cluster_id:
            raise NOT_FOUND_BECAUSE(detail=text.format(id=self.cluster_id))

    @property
    def rights(self) -> ProxyRights | None:
        """The rights of the sender, for handlers that filter or read names from the body; None without rules."""
        return rights_of(self.request)

    @property
    def current_rights(self) -> ProxyRights | None:
        """The rights of the sender by the rules in force now, for a handler that has waited; None without rules."""
        rights = self.rights
        return None if rights is None else rights.now()

    def visible(self, operation: str, resource_type: str, name: str) -> bool:
        """Tell whether a handler that filters by rights may include an item in its answer."""
        rights = self.rights
        return rights is None or rights.may(operation, resource_type, name)

    def permitted(self, operations: Sequence[str], resource_type: str, name: str) -> tuple[str, ...]:
        """The operations among some of the proxy's that the sender may do, too."""
        rights = self.rights
        return (
            tuple(operations)
            if rights is None
            else tuple(operation for operation in operations if rights.may(operation, resource_type, name))
        )


async def call_of(request: Request) -> Call:
    """The call of a request, once its row's rate limit admits it.

    Raises:
        ApiError: RATE_EXCEEDED.
    """
    row = request.row
    assert isinstance(row, V3Row)
    cluster_id = unquote(request.match.parameters.get("cluster", ""))
    call = Call(request, cluster_id, unknown_cluster=row.unknown_cluster)
    rate_limit = optional_part(request, RateLimit)
    if row.is_rate_limited and rate_limit is not None:
        await rate_limit.admit(row.endpoint)
    return call


async def _call_in_cluster(
    request: Request,
    cluster: Annotated[  # noqa: ARG001  read from the request, as for handlers that take the bare one
        str,
        BeforeValidator(unquote),
        WithJsonSchema({"type": "string", "minLength": 1}),
        Path(description="The cluster's id."),
    ],
) -> Call:
    return await call_of(request)


#: A call whose path names no cluster. Raises RATE_EXCEEDED, as the next one does.
ServerCall = Annotated[Call, Depends(call_of)]
#: A call whose path names a cluster, which is not yet compared with the proxy's.
ClusterCall = Annotated[Call, Depends(_call_in_cluster)]


async def _admin(call: ClusterCall) -> AdminClient:
    return await call.admin()


#: The admin client, once it is sure that the path's cluster is the proxy's. Raises NOT_FOUND and NO_CLUSTER_ID.
#: Parameters of a dependant are read after those of its dependencies, so its path and query are read after this.
Admin = Annotated[AdminClient, Depends(_admin)]
