"""One request of v3: its cluster, its parameters, and the links in its answer."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import unquote

from magicbyte.http.errors import NOT_FOUND
from magicbyte.http.routing.request import Request
from rest_proxy.access.decisions import rights_of
from rest_proxy.access.rights import ProxyRights
from rest_proxy.admin.client import AdminClient
from rest_proxy.admin.lazy_client import LazyAdminClient
from rest_proxy.errors import NO_CLUSTER_ID
from rest_proxy.errors import NOT_FOUND as NOT_FOUND_BECAUSE
from rest_proxy.exchange.parameters import segment
from rest_proxy.exchange.parts import part_of
from rest_proxy.exchange.urls import base_url
from rest_proxy.settings import RestProxySettings
from rest_proxy.v3.links import Links

_MAX_INT = 2**31 - 1


class Call:
    """The parts of a request that v3's handlers read.

    Attributes:
        request: The request.
        settings: The settings.
        cluster_id: The cluster's id, as the path names it; "" for paths without one.
        links: Makes the URLs in the answer.
    """

    __slots__ = ("_admin_client", "_unknown_cluster", "cluster_id", "links", "request", "settings")

    def __init__(self, request: Request, cluster_id: str | None = None, *, unknown_cluster: str | None = None) -> None:
        """Read the request.

        Args:
            request: The request.
            cluster_id: The cluster's id, for paths that name no cluster.
            unknown_cluster: The text of the error if the path names another cluster than the proxy's; None if it may.
        """
        self.request = request
        self._unknown_cluster = unknown_cluster
        self.settings = settings = part_of(request, RestProxySettings)
        self._admin_client = part_of(request, LazyAdminClient)
        parameters = request.match.parameters
        self.cluster_id = unquote(parameters.get("cluster", "")) if cluster_id is None else cluster_id
        self.links = Links(
            base_url(request, settings), parameters.get("prefix", ""), self.cluster_id, settings.crn_authority
        )

    async def admin(self) -> AdminClient:
        """The admin client, once it is sure that the path's cluster is the proxy's.

        So a handler that first reads the body and checks the rights does not need a broker to refuse them.

        Raises:
            ApiError: As `require_cluster`.
        """
        await self.require_cluster()
        return await self._admin_client()

    async def require_cluster(self) -> None:
        """Check that the path's cluster is the proxy's; for handlers that do without the admin client.

        Raises:
            ApiError: NOT_FOUND; NO_CLUSTER_ID if the brokers are too old to have an id.
        """
        text, self._unknown_cluster = self._unknown_cluster, None
        if text is None:
            return
        admin = await self._admin_client()
        if self.cluster_id == await admin.cluster_id():
            return
        cluster_id = await admin.cluster_id(fresh=True)
        if cluster_id is None:
            raise NO_CLUSTER_ID()
        if self.cluster_id != cluster_id:
            raise NOT_FOUND_BECAUSE(detail=text.format(id=self.cluster_id))

    def segment(self, parameter: str) -> str:
        """A path segment, decoded from percent-encoding.

        Raises:
            ApiError: INVALID_ENTITY for a null character.
        """
        return segment(self.request, parameter)

    def integer(self, parameter: str) -> int:
        """A path segment that is a whole number, such as a partition's.

        Raises:
            ApiError: NOT_FOUND, as for a path that the API does not have.
        """
        text = self.request.match.parameters[parameter]
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdigit()) or len(digits) > 10 or int(digits) > _MAX_INT:
            raise NOT_FOUND()
        return int(text)

    def query(self, name: str) -> str | None:
        """A query parameter; None if it is missing."""
        return self.request.query_params.get(name) if self.request.scope["query_string"] else None

    def flag(self, *names: str) -> bool:
        """A query parameter that may be `true`, under any of its names."""
        return any((self.query(name) or "").lower() == "true" for name in names)

    def choice(self, name: str, enum: str, values: Collection[str]) -> str | None:
        """A query parameter with one of an enum's values, in any case; None if it is missing.

        Args:
            name: The parameter.
            enum: The enum's name in the error.
            values: The values in upper case.

        Raises:
            ApiError: NOT_FOUND_BECAUSE, as the reference answers an unknown value.
        """
        text = self.query(name)
        if text is None:
            return None
        if text.upper() not in values:
            raise NOT_FOUND_BECAUSE(detail=f"The valid values for {enum} do not include '{text[:80]}'")
        return text.upper()

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
