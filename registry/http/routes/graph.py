"""The route /subjects/{subject}/versions/{version}/graph."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from starlette.responses import Response

from magicbyte.http.routing.request import Request
from registry import errors
from registry.http.answers import answer
from registry.http.request import bounded_number, flag, registry_of
from registry.http.routes.subjects import find_in_contexts
from registry.state.reference_graph import Graph, GraphDirection, reference_graph

_DEPTH, _MOST_DEPTH = 5, 20


async def get_graph(request: Request) -> Response:
    """Return the versions that a version refers to, those that refer to it, and the references between them."""
    depth = bounded_number(request, "depth", _DEPTH, least=1, most=_MOST_DEPTH)
    direction = _direction_of(request)
    start = await find_in_contexts(request)
    registry = registry_of(request)
    # Thousands of versions may refer to one.
    work = partial(
        reference_graph, registry.view, start, direction, depth=depth, deleted_referrers=flag(request, "deleted")
    )
    graph = await asyncio.get_running_loop().run_in_executor(registry.lists, work)
    return answer(request, _graph_object(graph))


def _direction_of(request: Request) -> GraphDirection:
    """The direction in which to follow references.

    Raises:
        ApiError: 400 if there is no such direction.
    """
    name = request.query_params.get("direction", "") or GraphDirection.BOTH
    try:
        return GraphDirection(name)
    except ValueError:
        directions = ", ".join(GraphDirection)
        raise errors.INVALID_PARAMETER(detail=f"direction must be one of {directions}, not {name[:40]!r}") from None


def _graph_object(graph: Graph) -> dict[str, Any]:
    return {
        "nodes": [
            {
                "subject": node.version.subject,
                "version": node.version.number,
                "id": node.version.schema_id,
                "schemaType": node.version.schema_type,
                "deleted": node.version.deleted,
                "distance": node.distance,
            }
            for node in graph.nodes
        ],
        "edges": [{"from": edge.source, "to": edge.target, "name": edge.name} for edge in graph.edges],
        "cut": graph.is_cut,
    }
