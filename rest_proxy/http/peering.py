"""The part that passes requests on to the node that holds their consumer instance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rest_proxy.http.passing_on import PassingOn


@dataclass(frozen=True, slots=True)
class Peering:
    """Passes requests on; None for a single node, which then need not import an HTTP client."""

    passing_on: PassingOn | None
