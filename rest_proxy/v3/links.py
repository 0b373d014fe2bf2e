"""URLs and resource names (CRNs) in answers of v3."""

from __future__ import annotations

from urllib.parse import quote, urlencode


def relation(url: str) -> dict[str, str]:
    """A link to a related resource."""
    return {"related": url}


class Links:
    """Makes the URLs and resource names of one cluster, under the prefix that the request has."""

    __slots__ = ("cluster", "crn_cluster", "root")

    def __init__(self, base: str, prefix: str, cluster_id: str, authority: str) -> None:
        """Make links.

        Args:
            base: Scheme and authority of URLs.
            prefix: `/kafka` or nothing.
            cluster_id: The cluster's id.
            authority: `confluent.resource.name.authority`.
        """
        self.root = f"{base}{prefix}/v3/clusters"
        self.cluster = f"{self.root}/{quote(cluster_id, safe='')}"
        self.crn_cluster = f"crn://{authority}/kafka={cluster_id.strip('/')}"

    def url(self, *segments: str | int) -> str:
        """The URL of a resource of the cluster; the segments are percent-encoded here."""
        return "/".join((self.cluster, *(quote(str(segment), safe=":") for segment in segments)))

    def query(self, path: str, **parameters: str) -> str:
        """The URL of a resource of the cluster with a query, which is encoded as a form."""
        return f"{self.cluster}/{path}?{urlencode(parameters, safe='*')}"

    def crn(self, *parts: str | tuple[str, str | int]) -> str:
        """The resource name: each part is a type with an id, or a bare type. Nothing in it is encoded."""
        named = (part if isinstance(part, str) else f"{part[0]}={str(part[1]).strip('/')}" for part in parts)
        return "/".join((self.crn_cluster, *named))
