"""The nodes of a cluster before a rolling upgrade: their versions, their roles, and the order to replace them in."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from magicbyte.kit.failure import Failure
from magicbyte.operations.registry_end import RegistryEnd
from magicbyte.operations.upgrade.findings import Finding, Severity
from magicbyte.operations.upgrade.releases import Release, release_of
from serdes.error import RegistryError


@dataclass(frozen=True, slots=True)
class NodeState:
    """A running node.

    Attributes:
        url: Its URL, as it was given.
        version: Its release.
        is_ready: Whether it is ready.
        leads: Whether it leads; None if it does not tell.
        leader_url: The leader, as far as it knows.
        problem: What is wrong with it; empty if nothing is.
    """

    url: str
    version: str
    is_ready: bool
    leads: bool | None
    leader_url: str | None
    problem: str


def node_state(end: RegistryEnd) -> NodeState:
    """Ask a node for its version and its role.

    Raises:
        Unreachable: It does not answer, or refuses the client.
        Failure: It is no registry of ours.
    """
    try:
        version = end.call("GET", "/v1/metadata/version")
        release = str(version["version"])
        release_of(release)
    except (RegistryError, KeyError, TypeError, Failure) as error:
        if isinstance(error, Failure) and type(error) is not Failure:
            raise
        raise Failure(f"{end.name} is no registry of Magicbyte: it does not tell its version") from None
    health: dict[str, Any] = {}
    is_ready = True
    try:
        health = end.call("GET", "/health/ready")
    except RegistryError as error:
        is_ready, health = False, _of_error(error)
    return NodeState(
        end.name, release, is_ready, health.get("leader"), health.get("leaderUrl"), str(health.get("problem") or "")
    )


def _of_error(error: RegistryError) -> dict[str, Any]:
    try:
        value = json.loads(error.message)
    except ValueError:
        return {"problem": error.message}
    return value if isinstance(value, dict) else {}


def check_nodes(nodes: Sequence[NodeState], target: Release) -> Iterator[Finding]:
    """Yield what stands against replacing the nodes one by one, and the order to do it in.

    Args:
        nodes: The nodes.
        target: The release that they are to have.
    """
    for node in nodes:
        role = {True: "leads", False: "follows", None: "does not tell its role"}[node.leads]
        yield Finding(Severity.NOTE, node.url, f"runs {node.version} and {role}")
        if not node.is_ready:
            text = f"is not ready: {node.problem or 'it does not tell why'}"
            yield Finding(
                Severity.PROBLEM, node.url, text, "wait until it is, or mend it; replace no other node before"
            )
    versions = sorted({release_of(node.version) for node in nodes})
    for version in versions:
        if version[0] == target[0] and abs(version[1] - target[1]) > 1:
            text = f"{_text(version)} and {_text(target)} are more than one minor release apart"
            remedy = "mixed clusters are tested between neighbours only: go through the releases between"
            yield Finding(Severity.PROBLEM, "nodes", text, remedy)
    leaders = [node for node in nodes if node.leads]
    if len({node.leader_url for node in nodes if node.leader_url is not None}) > 1 or len(leaders) > 1:
        text = "the nodes name different leaders"
        yield Finding(Severity.PROBLEM, "nodes", text, "ask again; if it stays so, they are not one cluster")
    order = [node for node in nodes if not node.leads and release_of(node.version) != target]
    order += [node for node in leaders if release_of(node.version) != target]
    if order:
        steps = ", ".join(node.url for node in order)
        last = "; before the last one, `magicbyte upgrade step-down` it" if order[-1].leads and len(nodes) > 1 else ""
        yield Finding(Severity.NOTE, "nodes", f"replace in this order: {steps}{last}")


def _text(release: Release) -> str:
    return ".".join(map(str, release))
