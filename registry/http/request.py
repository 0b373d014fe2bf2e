"""Subjects, versions and flags from a request's path and query, checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import unquote

from magicbyte.http.errors import NOT_FOUND
from magicbyte.http.routing.access import Decision
from magicbyte.http.routing.clients import client_key
from magicbyte.http.routing.request import Request
from magicbyte.http.routing.rows import Row
from magicbyte.http.routing.table import RouteMatch
from registry import errors
from registry.access.rights import Rights
from registry.service import Registry, WriteTexts
from registry.settings import RegistrySettings
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

#: The scope's key for the sender's rights, set by `RegistryAccess`.
RIGHTS = "magicbyte.rights"
#: The scope's key for the subject that `RegistryAccess` has decided on.
DECIDED = "magicbyte.decided_subject"
_SEEN = "magicbyte.seen_registry"
_INTEGER = re.compile(r"[+-]?[0-9]{1,10}")
#: A path segment that needs no decoding and names no context.
_PLAIN_SUBJECT = re.compile(r"[A-Za-z0-9.][A-Za-z0-9._-]*")

#: The lists with limits of their own in the settings, such as `schema.search.max.limit`.
ListKind = Literal["context", "schema", "subject", "version"]


@dataclass(frozen=True, eq=False, kw_only=True)
class RegistryRow(Row):
    """A route of the registry.

    Attributes:
        write: The texts of the write's errors; None if the route writes nothing.
    """

    write: WriteTexts | None = None


#: A path with a context before the route's own path.
_IN_CONTEXT = re.compile(r"/contexts/([^/]+)(/.*)")
#: The parameter for that context; no path template has a parameter of this name.
_AROUND = "/contexts/"


def locate(path: str) -> tuple[str, Mapping[str, str]]:
    """Return the route's path and the parameter of the context: `/contexts/NAME` and trailing slashes are removed.

    Raises:
        ApiError: 400 if the context's name contains a colon.
    """
    around: Mapping[str, str] = {}
    match = _IN_CONTEXT.fullmatch(path) if path.startswith(_AROUND) else None
    if match is not None:
        around, path = {_AROUND: context_name(match[1])}, match[2]
    # As in the reference, a trailing slash is ignored.
    return (path.rstrip("/") or "/" if path.endswith("/") else path), around


def context_name(encoded: str) -> str:
    """The name of a context in a path, which may omit the leading dot.

    Raises:
        ApiError: 400 if it contains a colon.
    """
    name = unquote(encoded)
    if ":" in name.removeprefix(":.").removesuffix(":"):
        raise errors.CONTEXT_WITH_COLON(context=name)
    bare = name.removeprefix(":").removesuffix(":")
    return bare if bare.startswith(".") else f".{bare}"


def registry_of(request: Request) -> Registry:
    """The registry as it serves the sender, with only the subjects that the sender may see."""
    known: Registry | None = request.scope.get(_SEEN)
    if known is not None:
        return known
    rights = rights_of(request)
    registry: Registry = request.scope["app"].state.registry
    seen = registry.serving(client_key(request, registry.settings.trusted_proxies))
    if rights is not None:
        operations = {"READ", *(operation for needed in request.row.needs for operation in needed)}
        seen = seen.seen_by(
            lambda subject: any(rights.may(operation, subject) for operation in operations),
            lambda subject: rights.may("READ", subject),
        )
    request.scope[_SEEN] = seen
    return seen


def require_needs(request: Request, subject: str | None, asked: str | None) -> None:
    """Require the row's operations on a subject, unless `RegistryAccess` has already decided on that subject.

    The two differ if the view has just learned of an alias, or if the subject was found in another context.

    Raises:
        ApiError: 40301.
    """
    rights = rights_of(request)
    if rights is not None and subject != request.scope.get(DECIDED):
        for operations in request.row.needs:
            rights.require(operations, subject, asked)


def rights_of(request: Request) -> Rights | None:
    """The sender's rights, for decisions in the handler; None if there are no rules."""
    rights: Rights | None = request.scope.get(RIGHTS)
    if rights is not None:
        request.decision = Decision.ALLOWED
    return rights


def write_of(request: Request) -> WriteTexts:
    """The texts of the errors of this request's write."""
    row = request.row
    assert isinstance(row, RegistryRow)
    assert row.write is not None
    return row.write


def context_of_request(request: Request) -> str:
    """The context in the request's path; the default context if the path names none."""
    return context_of_match(request.match)


def context_of_match(match: RouteMatch) -> str:
    """The context in a matched path; the default context if the path names none."""
    return match.parameters.get(_AROUND, DEFAULT_CONTEXT)


def prefix_of(request: Request, prefix: str) -> str:
    """The prefix of the requested subjects; by default, all in the path's context, or in all contexts."""
    context = context_of_request(request)
    if context != DEFAULT_CONTEXT:
        return in_context(context, prefix)
    return prefix or ALL_CONTEXTS


def subject_of(request: Request) -> str:
    """The subject in the path, in wire form, with aliases resolved.

    Raises:
        ApiError: 42208; 40301.
    """
    registry = registry_of(request)
    asked = asked_subject(registry, request.match, allow_global=False)
    subject = resolve_alias(registry.view, asked)
    require_needs(request, subject, asked)
    return subject


def settings_subject_of(request: Request) -> str | None:
    """The subject or context in the path whose config or mode is requested; None for the global one.

    Raises:
        ApiError: 42208.
    """
    if "subject" not in request.match.parameters:
        context = context_of_request(request)
        return None if context == DEFAULT_CONTEXT else str(SubjectName(context, ""))
    subject = settings_key(asked_subject(registry_of(request), request.match, allow_global=True))
    require_needs(request, subject, subject)
    return subject


def asked_subject(registry: Registry, match: RouteMatch, *, allow_global: bool) -> str:
    """The subject in the path, in wire form, before aliases are resolved.

    Args:
        registry: The registry.
        match: The path's route and parameters.
        allow_global: Whether the path may name a context instead, for its settings.

    Raises:
        ApiError: 42208.
    """
    segment: str = match.parameters["subject"]
    around = context_of_match(match)
    if around == DEFAULT_CONTEXT and _PLAIN_SUBJECT.fullmatch(segment):
        return segment
    return _wire_form(registry, unquote(segment), around, allow_global=allow_global)


def named_prefix(request: Request, prefix: str) -> str:
    """The prefix of the requested subjects; by default, all in the path's context."""
    context = context_of_request(request)
    return prefix if context == DEFAULT_CONTEXT and prefix.startswith(ALL_CONTEXTS) else in_context(context, prefix)


def subject_in_query(request: Request, raw: str) -> str | None:
    """The subject that a query parameter names, in wire form, with aliases resolved; None without the parameter.

    Raises:
        ApiError: 42208; 40301 if the sender may not read it.
    """
    if not raw:
        return None
    registry, rights = registry_of(request), rights_of(request)
    asked = subject_in_context(request, raw)
    subject = resolve_alias(registry.view, asked)
    if rights is not None:
        rights.require(["READ"], subject, asked)
    return subject


def subject_in_context(request: Request, raw: str) -> str:
    """A subject that is named outside of the path, in wire form, before aliases are resolved.

    Raises:
        ApiError: 42208.
    """
    return _wire_form(registry_of(request), raw, context_of_request(request), allow_global=False)


def _wire_form(registry: Registry, raw: str, around: str, *, allow_global: bool) -> str:
    """A subject's name in a context, in wire form.

    Raises:
        ApiError: 42208.
    """
    qualified = in_context(around, raw)
    subject = str(parse_subject(qualified))
    if subject != qualified and registry.view.versions(qualified):
        # Another client registered it with an explicit default context, and lists return it under that name.
        subject = qualified
    reject_empty = registry.settings.reject_empty_subject and not allow_global
    if not may_be_subject(subject, of_settings=allow_global) or (
        reject_empty and parse_subject(subject).name in ("", "*")
    ):
        raise errors.INVALID_SUBJECT(subject=raw)
    return subject


def version_of(request: Request) -> int | None:
    """The version in the path; None for `latest`.

    Raises:
        ApiError: 42202.
    """
    return version_number(unquote(request.match.parameters["version"]))


def version_number(raw: str) -> int | None:
    """The number that a version's text names; None for `latest`.

    Raises:
        ApiError: 42202.
    """
    text = raw.strip()
    if text.lower() == "latest" or text == "-1":
        return None
    if not re.fullmatch(r"\+?[0-9]{1,10}", text) or not 1 <= int(text) <= MAX_VERSION:
        raise errors.INVALID_VERSION(version=raw)
    return int(text)


def id_of(request: Request) -> int:
    """The schema id in the path; a path without an integer is not a route."""
    return schema_id(request.match.parameters["id"])


def schema_id(segment: str) -> int:
    """The schema id in a segment of a path.

    Raises:
        ApiError: 404 if it is not an integer of 32 bits.
    """
    raw = unquote(segment)
    if not _INTEGER.fullmatch(raw) or abs(int(raw)) > MAX_VERSION:
        raise NOT_FOUND()
    return int(raw)


def flag(request: Request, name: str) -> bool:
    """A boolean query parameter of a bare request; any value but `true` is false."""
    # Most requests have no query, and parsing one takes longer than this check.
    return bool(request.scope["query_string"]) and request.query_params.get(name, "").lower() == "true"


def number(request: Request, name: str, default: int) -> int:
    """An integer query parameter of a bare request.

    Raises:
        ApiError: 404 if it is not a number, as in the reference.
    """
    return integer(request.query_params.get(name, ""), default) if request.scope["query_string"] else default


def integer(raw: str, default: int) -> int:
    """The integer that a parameter's text names; the default for an empty text.

    Raises:
        ApiError: 404 if it is not a number, as in the reference.
    """
    if not raw.strip():
        return default
    if not _INTEGER.fullmatch(raw):
        raise NOT_FOUND()
    return int(raw)


def page(settings: RegistrySettings, items: list[Any], kind: ListKind, offset: int, limit: int) -> list[Any]:
    """The part of a list that `offset` and `limit` select, within the settings' limits for lists of a kind."""
    first, end = page_bounds(settings, kind, offset, limit)
    return items[first:end]


def page_bounds(settings: RegistrySettings, kind: ListKind, offset: int, limit: int) -> tuple[int, int]:
    """The first index and the end index of the part of a list that `offset` and `limit` select."""
    first = max(0, offset)
    default: int = getattr(settings, f"{kind}_search_default_limit")
    return first, first + (limit if has_limit(settings, kind, limit) else default)


def has_limit(settings: RegistrySettings, kind: ListKind, limit: int) -> bool:
    """Tell whether a limit is valid; a limit out of bounds is ignored."""
    most: int = getattr(settings, f"{kind}_search_max_limit")
    return 0 < limit <= most
