"""Routes under /security/acls: the access rules in the registry's log."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from starlette.responses import Response

from magicbyte.http.errors import MALFORMED_BODY, METHOD_NOT_ALLOWED
from magicbyte.http.representation import is_current
from magicbyte.http.routing.request import Request
from magicbyte.security.rights.rule import ALL, OPERATIONS, PATTERN_TYPES, PERMISSIONS, Rule, RuleError
from magicbyte.security.rights.rule_json import FIELDS, rules_from_json, rules_to_json
from registry import errors
from registry.decide import Decision, decide_add_rules, decide_remove_rules, decide_replace_rules
from registry.decide.access_rules import Author, RuleChange
from registry.http.answers import answer
from registry.http.bodies import json_of
from registry.http.request import flag, registry_of, rights_of, write_of

#: Field of a rule -> its allowed values, if they are a fixed list.
_WORDS = {
    "resource_type": tuple(OPERATIONS),
    "pattern_type": PATTERN_TYPES,
    "operation": (*dict.fromkeys(operation for operations in OPERATIONS.values() for operation in operations), ALL),
    "permission": PERMISSIONS,
}


async def list_rules(request: Request) -> Response:
    """List the rules that match the query; 304 if no rule has changed since the ETag of `If-None-Match`."""
    _author(request)
    parts, view, log_id = _filter(request), registry_of(request).node.view, registry_of(request).node.log_id
    etag = f'"{log_id}:{view.rules_offset}"'
    if is_current(request.headers.get("if-none-match"), etag):
        return Response(status_code=304, headers={"etag": etag})
    # Sorting thousands of rules takes long enough to delay other requests.
    rules = await asyncio.to_thread(rules_to_json, filter(partial(_is_like, parts), view.rules()))
    response = answer(request, rules)
    response.headers["etag"] = etag
    return response


async def add_rules(request: Request) -> Response:
    """Add rules; returns all of them in canonical form, including those that existed before."""
    rules = await _rules_of(request)
    await _change(request, partial(decide_add_rules, rules=rules))
    return answer(request, rules_to_json(rules), 201)


async def remove_rules(request: Request) -> Response:
    """Remove rules; returns those that existed."""
    rules = await _rules_of(request)
    change = await _change(request, partial(decide_remove_rules, rules=rules))
    return answer(request, rules_to_json(change.removed))


async def replace_rules(request: Request) -> Response:
    """Replace all rules at once; returns the rules added and removed. With dryRun, changes nothing."""
    rules = await _rules_of(request)
    change = await _change(request, partial(decide_replace_rules, rules=rules), dry_run=flag(request, "dryRun"))
    return answer(request, {"added": rules_to_json(change.added), "removed": rules_to_json(change.removed)})


async def _change(
    request: Request, decide: Callable[..., Decision[RuleChange]], *, dry_run: bool = False
) -> RuleChange:
    registry, author = registry_of(request), _author(request)
    command = partial(decide, author=author)
    if dry_run:
        await registry.catch_up()
        return command(registry.node.view, 0).result
    change: RuleChange = await registry.write(write_of(request), command)
    return change


def _author(request: Request) -> Author:
    """The principal that sends the request, as the author of a change.

    Raises:
        ApiError: 405 if the log does not store the rules.
    """
    rights = rights_of(request)
    if rights is None or not registry_of(request).settings.keeps_rules:
        raise METHOD_NOT_ALLOWED()
    return rights.author


async def _rules_of(request: Request) -> frozenset[Rule]:
    _author(request)
    try:
        # Checking thousands of rules takes long enough to delay other requests.
        return await asyncio.to_thread(rules_from_json, await json_of(request))
    except RuleError as error:
        raise MALFORMED_BODY(detail=error) from None


def _filter(request: Request) -> dict[str, str]:
    parts = {name: request.query_params[name] for name in FIELDS if name in request.query_params}
    for name, words in _WORDS.items():
        if name in parts:
            parts[name] = parts[name].upper()
            if parts[name] not in words:
                raise errors.INVALID_PARAMETER(detail=f"{name} {parts[name]} must be one of {', '.join(words)}")
    return parts


def _is_like(parts: dict[str, str], rule: Rule) -> bool:
    return all(getattr(rule, name) == part for name, part in parts.items())
