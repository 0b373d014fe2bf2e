"""What a request's path and query say: subjects, versions and flags, checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import unquote

from magicbyte.http.errors import NOT_FOUND
from magicbyte.http.routing.access import Decision
from magicbyte.http.routing.request import Request
from magicbyte.http.routing.rows import Row
from magicbyte.http.routing.table import Found
from registry import errors
from registry.access.rights import Rights
from registry.service import Registry, WriteTexts
from registry.state.model import (
    ALL_CONTEXTS,
    DEFAULT_CONTEXT,
    MAX_VERSION,
    SubjectName,
    in_context,
    may_be_subject,
    parse_subject,
)
from registry.state.resolve import resolve_alias, settings_key

#: Where the access seam leaves the rights of whoever sends a request.
RIGHTS = "magicbyte.rights"
#: Where it leaves the subject that it has decided on.
DECIDED = "magicbyte.decided_subject"
_SEEN = "magicbyte.seen_registry"
#: A path segment that is a subject as it stands, in the context around it.
_PLAIN_SUBJECT = re.compile(r"[A-Za-z0-9.][A-Za-z0-9._-]*")


@dataclass(frozen=True, eq=False, kw_only=True)
class RegistryRow(Row):
    """A route of the registry.

    Attributes:
        write: What the errors of its write say; None if it writes nothing.
    """

    write: WriteTexts | None = None


#: What stands before the path of a route for the subjects of a context.
_IN_CONTEXT = re.compile(r"/contexts/([^/]+)(/.*)")
#: The parameter that such a path has, by a name that no template has.
_AROUND = "/contexts/"


def locate(path: str) -> tuple[str, Mapping[str, str]]:
    """A path as it is looked up: without `/contexts/NAME` before it, which is a parameter, and slashes at its end.

    Raises:
        ApiError: 400 if the name holds a colon.
    """
    around: Mapping[str, str] = {}
    match = _IN_CONTEXT.fullmatch(path) if path.startswith(_AROUND) else None
    if match is not None:
        around, path = {_AROUND: context_name(match[1])}, match[2]
    # As in the reference, a slash at the end means nothing.
    return (path.rstrip("/") or "/" if path.endswith("/") else path), around


def context_name(encoded: str) -> str:
    """The name of a context as a path gives it, with or without its leading dot.

    Raises:
        ApiError: 400 where it holds a colon.
    """
    name = unquote(encoded)
    if ":" in name.removeprefix(":.").removesuffix(":"):
        raise errors.CONTEXT_WITH_COLON(context=name)
    bare = name.removeprefix(":").removesuffix(":")
    return bare if bare.startswith(".") else f".{bare}"


def registry_of(request: Request) -> Registry:
    """The registry that serves this request, as its principal sees it."""
    registry = cast("Registry", request.app.state.registry)
    rights = rights_of(request)
    if rights is None:
        return registry
    seen: Registry | None = request.scope.get(_SEEN)
    if seen is None:
        operations = {"READ", *(operation for needed in request.row.needs for operation in needed)}
        seen = request.scope[_SEEN] = registry.seen_by(
            lambda subject: any(rights.may(operation, subject) for operation in operations),
            lambda subject: rights.may("READ", subject),
        )
    return seen


def require_needs(request: Request, subject: str | None, asked: str | None) -> None:
    """Require what the row needs on a subject, unless that is the one that the access seam has decided on.

    Since then the view may have learned of an alias; or a subject was found in another context than the one asked for.

    Raises:
        ApiError: 40301.
    """
    rights = rights_of(request)
    if rights is not None and subject != request.scope.get(DECIDED):
        for operations in request.row.needs:
            rights.require(operations, subject, asked)


def rights_of(request: Request) -> Rights | None:
    """The rights of whoever sends a request, whom the handler asks by them; None if there are no rules."""
    rights: Rights | None = request.scope.get(RIGHTS)
    if rights is not None:
        request.decision = Decision.ALLOWED
    return rights


def write_of(request: Request) -> WriteTexts:
    """What the errors of this request's write say, by its row."""
    row = request.row
    assert isinstance(row, RegistryRow)
    assert row.write is not None
    return row.write


def context_of_request(request: Request) -> str:
    """The context that a /contexts/... prefix named, else the default one."""
    return context_of_found(request.found)


def context_of_found(found: Found) -> str:
    """The context that a /contexts/... prefix of a path names, else the default one."""
    return found.parameters.get(_AROUND, DEFAULT_CONTEXT)


def prefix_of(request: Request) -> str:
    """The prefix of subjects that is asked for; without one, everything in the context of the path, or in all."""
    prefix, context = request.query_params.get("subjectPrefix", ""), context_of_request(request)
    if context != DEFAULT_CONTEXT:
        return in_context(context, prefix)
    return prefix or ALL_CONTEXTS


def subject_of(request: Request) -> str:
    """The subject that the path names, in wire form, an alias followed.

    Raises:
        ApiError: 42208; 40301.
    """
    asked = _checked_subject(request, allow_global=False)
    subject = resolve_alias(registry_of(request).view, asked)
    require_needs(request, subject, asked)
    return subject


def settings_subject_of(request: Request) -> str | None:
    """The subject or context whose config or mode the path names; None for the global one.

    Raises:
        ApiError: 42208.
    """
    if "subject" not in request.found.parameters:
        context = context_of_request(request)
        return None if context == DEFAULT_CONTEXT else str(SubjectName(context, ""))
    subject = settings_key(_checked_subject(request, allow_global=True))
    require_needs(request, subject, subject)
    return subject


def _checked_subject(request: Request, *, allow_global: bool) -> str:
    return asked_subject(registry_of(request), request.found, allow_global=allow_global)


def asked_subject(registry: Registry, found: Found, *, allow_global: bool) -> str:
    """The subject that a path names, in wire form.

    Args:
        registry: The registry.
        found: The path.
        allow_global: The path may name a context, whose settings it is about.

    Raises:
        ApiError: 42208.
    """
    given: str = found.parameters["subject"]
    around = context_of_found(found)
    if around == DEFAULT_CONTEXT and _PLAIN_SUBJECT.fullmatch(given):
        return given
    raw = unquote(given)
    qualified = in_context(around, raw)
    subject = str(parse_subject(qualified))
    if subject != qualified and registry.view.versions(qualified):
        # Another writer's records name the default context, so that this is what lists call the subject.
        subject = qualified
    reject_empty = registry.settings.reject_empty_subject and not allow_global
    if not may_be_subject(subject, of_settings=allow_global) or (
        reject_empty and parse_subject(subject).name in ("", "*")
    ):
        raise errors.INVALID_SUBJECT(subject=raw)
    return subject


def version_of(request: Request) -> int | None:
    """The version that the path names; None for `latest`.

    Raises:
        ApiError: 42202.
    """
    raw = unquote(request.found.parameters["version"])
    text = raw.strip()
    if text.lower() == "latest" or text == "-1":
        return None
    if not re.fullmatch(r"\+?[0-9]{1,10}", text) or not 1 <= int(text) <= MAX_VERSION:
        raise errors.INVALID_VERSION(version=raw)
    return int(text)


def id_of(request: Request) -> int:
    """The schema id that the path names; anything but an integer is no route."""
    raw = unquote(request.found.parameters["id"])
    if not re.fullmatch(r"[+-]?[0-9]{1,10}", raw) or abs(int(raw)) > MAX_VERSION:
        raise NOT_FOUND()
    return int(raw)


def flag(request: Request, name: str) -> bool:
    """A boolean query parameter; absent, or anything but true, is false."""
    # Most requests have no query at all, and reading one takes longer than asking whether there is one.
    return bool(request.scope["query_string"]) and request.query_params.get(name, "").lower() == "true"


def number(request: Request, name: str, default: int) -> int:
    """An integer query parameter.

    Raises:
        ApiError: 404, as the reference answers a parameter that is no number.
    """
    raw = request.query_params.get(name) if request.scope["query_string"] else None
    if raw is None or not raw.strip():
        return default
    if not re.fullmatch(r"[+-]?[0-9]{1,10}", raw):
        raise NOT_FOUND()
    return int(raw)


def page(request: Request, items: list[Any], *, default_limit: int, max_limit: int) -> list[Any]:
    """The part of a list that offset and limit ask for; a limit out of bounds counts as absent."""
    first, end = page_bounds(request, default_limit=default_limit, max_limit=max_limit)
    return items[first:end]


def page_bounds(request: Request, *, default_limit: int, max_limit: int) -> tuple[int, int]:
    """Where the part of a list that offset and limit ask for begins and ends."""
    offset = max(0, number(request, "offset", 0))
    limit = number(request, "limit", -1) if has_limit(request, max_limit=max_limit) else default_limit
    return offset, offset + limit


def has_limit(request: Request, *, max_limit: int) -> bool:
    """Tell whether a limit is given; one that is out of bounds counts as none."""
    return 0 < number(request, "limit", -1) <= max_limit
