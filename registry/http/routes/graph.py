"""The routes of references: /subjects/{subject}/versions/{version}/graph, /subjects/{subject}/referencedby."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from magicbyte.http.routing.request import Request
from magicbyte.http.routing.response import Json
from registry import errors
from registry.http import models
from registry.http.answers import answer
from registry.http.holders import held_versions
from registry.http.parameters import Deleted, Depth, Direction, Subject, VersionNumber
from registry.http.request import registry_of
from registry.http.routes.subjects import find_in_contexts
from registry.state.model import Version
from registry.state.reference_graph import Graph, GraphDirection, reference_graph
from registry.state.view import View


async def get_graph(
    request: Request,
    *,
    subject: Subject,
    number: VersionNumber,
    depth: Depth = 5,
    direction: Direction = GraphDirection.BOTH,
    deleted: Deleted = False,
) -> Json[models.Graph]:
    """Extension: the versions that a version refers to, those that refer to it, and the references between them."""
    registry = registry_of(request)
    start = await find_in_contexts(registry, subject, number, include_deleted=deleted)
    # Thousands of versions may refer to one.
    work = partial(reference_graph, registry.view, start, direction, depth=depth, deleted_referrers=deleted)
    graph = await asyncio.get_running_loop().run_in_executor(registry.lists, work)
    return answer(request, _graph_object(graph))


async def list_holders(request: Request, *, subject: Subject) -> Json[models.HeldVersions]:
    """Extension: the versions of a subject that others refer to, newest first, each with its referrers.

    A version cannot be deleted while others refer to it, nor removed for good while soft-deleted ones do. References
    within the subject do not keep it from being deleted as a whole.
    """
    registry = registry_of(request)

    def look_up(view: View) -> list[Version] | None:
        return list(view.versions(subject)) or None

    versions = await registry.find(look_up)
    if versions is None:
        raise errors.SUBJECT_NOT_FOUND(subject=subject)
    # Thousands of versions may refer to one.
    work = partial(held_versions, registry.view, versions)
    return answer(request, await asyncio.get_running_loop().run_in_executor(registry.lists, work))


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
