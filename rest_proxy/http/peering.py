"""The parts that tell which node holds a consumer instance, and pass requests on to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rest_proxy.consume.consumers.peers import Peers

if TYPE_CHECKING:
    from rest_proxy.http.passing_on import PassingOn


@dataclass(frozen=True, slots=True)
class Peering:
    """The parts of a node of several; both are None for a single node.

    Attributes:
        peers: The nodes.
        passing_on: Passes requests on to them.
    """

    peers: Peers | None = None
    passing_on: PassingOn | None = None
