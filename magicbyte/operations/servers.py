"""The server at a URL: vendor and version, as its API tells them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from magicbyte.kit.failure import Failure
from magicbyte.operations.failures import Unreachable
from magicbyte.operations.registry_end import RegistryEnd
from serdes.error import RegistryError

MAGICBYTE, CONFLUENT, CONFLUENT_CLOUD = "magicbyte", "confluent", "confluent-cloud"
KARAPACE, AXONOPS, APICURIO, REDPANDA = "karapace", "axonops", "apicurio", "redpanda"
#: Vendor -> its name for people.
NAMES: Mapping[str, str] = {
    MAGICBYTE: "Magicbyte",
    CONFLUENT: "Confluent Schema Registry",
    CONFLUENT_CLOUD: "Confluent Cloud",
    KARAPACE: "Karapace",
    AXONOPS: "AxonOps Schema Registry",
    APICURIO: "Apicurio Registry",
    REDPANDA: "Redpanda",
    "": "a registry of unknown vendor",
}
_CCOMPAT = re.compile(r"/apis/ccompat/v\d+/?$")


@dataclass(frozen=True, slots=True)
class Server:
    """A server behind a URL.

    Attributes:
        vendor: A key of `NAMES`; empty if it is not known.
        version: Its version; empty if it does not tell it.
        evidence: How it was recognized.
    """

    vendor: str
    version: str = ""
    evidence: str = ""

    @property
    def title(self) -> str:
        """Vendor and version for people."""
        return f"{NAMES[self.vendor]} {self.version}".strip()


def identify(end: RegistryEnd, url: str, properties: Mapping[str, str]) -> Server:
    """Recognize the server of a registry.

    Args:
        end: Its client.
        url: Its URL, or several with commas between.
        properties: How to connect, for paths beside the registry's.

    Raises:
        Unreachable: It does not answer, or refuses the client.
        Failure: It is no schema registry.
    """
    first = url.split(",", maxsplit=1)[0]
    # Each registry has it, and an answer of any length is short.
    types = ask(end, "/schemas/types")
    if not isinstance(types, list):
        raise Failure(
            f"{end.name} is no schema registry: GET /schemas/types does not answer with a list; check the path, which "
            "is /apis/ccompat/v7 for Apicurio"
        )
    if (urlsplit(first).hostname or "").endswith(".confluent.cloud"):
        return Server(CONFLUENT_CLOUD, evidence="the host's name")
    if _CCOMPAT.search(urlsplit(first).path):
        return _apicurio(first, properties)
    return recognize(end)


def recognize(end: RegistryEnd) -> Server:
    """Recognize a registry by the answers that are its vendor's alone.

    Raises:
        Unreachable: It does not answer, or refuses the client.
    """
    for probe in (_by_rights, _by_version, _by_health, _by_contract):
        server = probe(end)
        if server is not None:
            return server
    return Server("", evidence="no answer of those by which vendors are known")


def ask(end: RegistryEnd, path: str) -> Any:
    """The JSON of a GET; None if the registry refuses it or answers with something else."""
    try:
        return end.call("GET", path)
    except (RegistryError, ValueError):
        return None


def client_of_paths(url: str, prefix: str, properties: Mapping[str, str]) -> RegistryEnd:
    """A client of other paths of the server of a URL, such as `/apis/registry/v3`."""
    parts = urlsplit(url)
    return RegistryEnd(f"{parts.scheme}://{parts.netloc}{prefix}", properties)


def _apicurio(url: str, properties: Mapping[str, str]) -> Server:
    for prefix in ("/apis/registry/v3", "/apis/registry/v2"):
        with client_of_paths(url, prefix, properties) as end:
            try:
                answer = ask(end, "/system/info")
            except Unreachable:
                continue
        if isinstance(answer, dict) and "apicurio" in str(answer.get("name", "")).lower():
            return Server(APICURIO, str(answer.get("version", "")), f"{prefix}/system/info")
    return Server(APICURIO, evidence="the path /apis/ccompat")


def _by_rights(end: RegistryEnd) -> Server | None:
    """Ours: it tells its version just as Confluent's registry does, and alone has /rights."""
    answer = ask(end, "/rights")
    if not isinstance(answer, dict) or "someSubject" not in answer:
        return None
    told = ask(end, "/v1/metadata/version")
    return Server(MAGICBYTE, str(told.get("version", "")) if isinstance(told, dict) else "", "it answers /rights")


def _by_version(end: RegistryEnd) -> Server | None:
    answer = ask(end, "/v1/metadata/version")
    if not isinstance(answer, dict) or not isinstance(answer.get("version"), str):
        return None
    for member, vendor in (("commitId", CONFLUENT), ("commit", AXONOPS)):
        if member in answer:
            return Server(vendor, str(answer["version"]), f"/v1/metadata/version has {member}")
    return None


def _by_health(end: RegistryEnd) -> Server | None:
    answer = ask(end, "/_health")
    if isinstance(answer, dict) and "karapace_version" in answer:
        return Server(KARAPACE, str(answer["karapace_version"]), "/_health has karapace_version")
    return None


def _by_contract(end: RegistryEnd) -> Server | None:
    answer = ask(end, "/v1")
    title = str((answer.get("info") or {}).get("title", "")) if isinstance(answer, dict) else ""
    if "pandaproxy" in title.lower() or "redpanda" in title.lower():
        return Server(REDPANDA, evidence=f"/v1 is titled {title!r}")
    return None
