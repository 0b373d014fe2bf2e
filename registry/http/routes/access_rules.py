"""Routes under /security/acls: the access rules in the registry's log."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from fastapi import Depends

from magicbyte.http.errors import MALFORMED_BODY, METHOD_NOT_ALLOWED
from magicbyte.http.representation import is_current
from magicbyte.http.routing.request import Request
from magicbyte.http.routing.response import Json, NotModified
from magicbyte.http.routing.solved import made_of_parameters
from magicbyte.security.rights.rule import ALL, OPERATIONS, PATTERN_TYPES, PERMISSIONS, Rule, RuleError
from magicbyte.security.rights.rule_json import FIELDS, rules_from_json, rules_to_json
from registry import errors
from registry.decide import Decision, decide_add_rules, decide_remove_rules, decide_replace_rules
from registry.decide.access_rules import Author, RuleChange
from registry.http import models
from registry.http.answers import answer
from registry.http.parameters import (
    DryRun,
    IfNoneMatch,
    RuleHost,
    RuleOperation,
    RulePatternType,
    RulePermission,
    RulePrincipal,
    RuleResource,
    RuleResourceType,
)
from registry.http.parameters.bodies import RulesBody
from registry.http.request import registry_of, rights_of, write_of

#: Field of a rule -> its allowed values, if they are a fixed list.
_WORDS = {
    "resource_type": tuple(OPERATIONS),
    "pattern_type": PATTERN_TYPES,
    "operation": (*dict.fromkeys(operation for operations in OPERATIONS.values() for operation in operations), ALL),
    "permission": PERMISSIONS,
}


async def _author(request: Request) -> Author:
    """The principal that sends the request, as the author of a change.

    Raises:
        ApiError: 405 if the log does not store the rules.
    """
    rights = rights_of(request)
    if rights is None or not registry_of(request).settings.keeps_rules:
        raise METHOD_NOT_ALLOWED()
    return rights.author


async def _rules(sent: RulesBody) -> frozenset[Rule]:
    """The rules in the body.

    Raises:
        ApiError: 400 if one is malformed.
    """
    try:
        # Checking thousands of rules takes long enough to delay other requests.
        return await asyncio.to_thread(rules_from_json, sent)
    except RuleError as error:
        raise MALFORMED_BODY(detail=error) from None


#: The principal that sends the request. Raises 405 if the log does not store the rules.
_Author = Annotated[Author, Depends(_author)]
#: The rules in the body. Raises 400 if one is malformed.
_Rules = Annotated[frozenset[Rule], Depends(_rules)]


@dataclass(frozen=True, slots=True)
class _Filter:
    """The parts that a listed rule has; None for any."""

    principal: RulePrincipal = None
    host: RuleHost = None
    resource_type: RuleResourceType = None
    resource: RuleResource = None
    pattern_type: RulePatternType = None
    operation: RuleOperation = None
    permission: RulePermission = None

    def parts(self) -> dict[str, str]:
        """The parts that are set, in the rules' spelling.

        Raises:
            ApiError: 400 if a part has no such value.
        """
        parts = {name: getattr(self, name) for name in FIELDS if getattr(self, name) is not None}
        for name, words in _WORDS.items():
            if name in parts:
                parts[name] = parts[name].upper()
                if parts[name] not in words:
                    raise errors.INVALID_PARAMETER(detail=f"{name} {parts[name]} must be one of {', '.join(words)}")
        return parts


_FilterOfQuery = Annotated[_Filter, Depends(made_of_parameters(_Filter))]


async def list_rules(
    request: Request, *, _sender: _Author, wanted: _FilterOfQuery, if_none_match: IfNoneMatch = None
) -> Json[models.AccessRules]:
    """The access rules in the registry's log.

    405 if the rules are in a file, or if nobody has to sign in. The header ETag changes with the rules.
    """
    parts, view, log_id = wanted.parts(), registry_of(request).node.view, registry_of(request).node.log_id
    etag = f'"{log_id}:{view.rules_offset}"'
    if is_current(if_none_match, etag):
        return NotModified(etag)
    # Sorting thousands of rules takes long enough to delay other requests.
    rules = await asyncio.to_thread(rules_to_json, filter(partial(_is_like, parts), view.rules()))
    response = answer(request, rules)
    response.headers["etag"] = etag
    return response


async def add_rules(request: Request, *, author: _Author, rules: _Rules) -> Json[models.AccessRules]:
    """Add access rules, all at once; answers them in their canonical form.

    Nobody but a super user gives what they do not hold themselves: that is 40301. Rules that are there already stay as
    they are.
    """
    await _change(request, partial(decide_add_rules, rules=rules, author=author))
    return answer(request, rules_to_json(rules), 201)


async def remove_rules(request: Request, *, author: _Author, rules: _Rules) -> Json[models.AccessRules]:
    """Remove access rules, all at once; answers those that were there.

    Nobody but a super user takes away a denial of what they do not hold themselves, or the last rule.
    """
    change = await _change(request, partial(decide_remove_rules, rules=rules, author=author))
    return answer(request, rules_to_json(change.removed))


async def replace_rules(
    request: Request, *, author: _Author, rules: _Rules, dry_run: DryRun = False
) -> Json[models.RuleChange]:
    """Put access rules in the place of all that are there, all at once; answers what has changed.

    Requests are decided by the old rules or by the new ones, never by a part of them.
    """
    command = partial(decide_replace_rules, rules=rules, author=author)
    if dry_run:
        registry = registry_of(request)
        await registry.catch_up()
        change = command(registry.node.view, 0).result
    else:
        change = await _change(request, command)
    return answer(request, {"added": rules_to_json(change.added), "removed": rules_to_json(change.removed)})


async def _change(request: Request, command: Callable[..., Decision[RuleChange]]) -> RuleChange:
    change: RuleChange = await registry_of(request).write(write_of(request), command)
    return change


def _is_like(parts: dict[str, str], rule: Rule) -> bool:
    return all(getattr(rule, name) == part for name, part in parts.items())
