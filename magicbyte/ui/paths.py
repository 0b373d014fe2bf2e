"""Paths of requests below `/ui/`, as they were sent."""

from __future__ import annotations

import re
from urllib.parse import unquote

from magicbyte.http.errors import NOT_FOUND
from magicbyte.http.routing.request import Request

#: The page's folder.
FOLDER = "/ui/"
#: The page's address relative to the server's root.
FRONT = "ui/"

#: The resources of the REST proxy that the page uses.
_OF_REST = frozenset(("topics", "brokers", "consumers", "v3"))
#: POST requests of the registry that read: look-ups, checks, outlines and comparisons, with or without a context.
_ASKING = re.compile(r"(/contexts/[^/]+)?/(compatibility/.+|outline|subjects/[^/]+(/compare)?)")


def path_below(request: Request) -> str | None:
    """The request's path below `/ui/`; None for `/ui` itself.

    Raises:
        ApiError: 404 if the path begins with something else, such as a context of the registry.
    """
    path: str = request.scope["raw_path"].partition(b"?")[0].decode("latin-1")
    if path == FOLDER.removesuffix("/"):
        return None
    if not path.startswith(FOLDER):
        raise NOT_FOUND()
    return path.removeprefix(FOLDER)


def path_of_rest(request: Request) -> str:
    """The path at the REST proxy.

    Raises:
        ApiError: 404 for a resource that the page does not use.
    """
    path = (path_below(request) or "").removeprefix("rest")
    if path.split("/")[1] not in _OF_REST:
        raise NOT_FOUND()
    return _checked(path)


def path_of_registry(request: Request) -> str:
    """The path at the registry.

    Raises:
        ApiError: 404 for a path with dot segments.
    """
    return _checked((path_below(request) or "").removeprefix("registry"))


def only_asks(path: str) -> bool:
    """Whether a POST to a path at the registry changes nothing."""
    return _ASKING.fullmatch(path) is not None


def is_endless(path: str) -> bool:
    """Whether the answer to a GET of a path at the registry has no end: the change feed, with or without a slash."""
    return unquote(path).rstrip("/").rpartition("/")[2] == "events"


def has_dot_segments(path: str) -> bool:
    """Whether a path has a segment `.` or `..`, encoded or not."""
    return any(unquote(segment) in (".", "..") for segment in path.split("/"))


def _checked(path: str) -> str:
    """Refuse dot segments: a server that resolves them would find another resource."""
    if has_dot_segments(path):
        raise NOT_FOUND()
    return path
