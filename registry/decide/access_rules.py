"""Changes of the access rules: each takes effect as a whole, and grants nothing that its author does not hold."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from magicbyte.security.principal import Principal
from magicbyte.security.rights.delegation import Holdings
from magicbyte.security.rights.rule import Rule
from registry import errors
from registry.decide.decision import Decision, tombstone
from registry.log.port import Record
from registry.state import records
from registry.state.model import RuleOrigin
from registry.state.records import Key
from registry.state.view import View


@dataclass(frozen=True, slots=True)
class Author:
    """The author of a change of the rules.

    Attributes:
        principal: Their name and groups.
        address: The address that the request came from.
        is_super_user: Whether they may do everything.
    """

    principal: Principal
    address: str
    is_super_user: bool


@dataclass(frozen=True, slots=True)
class RuleChange:
    """The result of a command.

    Attributes:
        added: The rules that did not exist before.
        removed: The rules that no longer exist.
    """

    added: frozenset[Rule]
    removed: frozenset[Rule]


def decide_add_rules(view: View, now: int, *, rules: frozenset[Rule], author: Author) -> Decision[RuleChange]:
    """Add rules; existing ones remain unchanged.

    Raises:
        ApiError: 40301.
    """
    return _decide(view, now, rules - frozenset(view.rules()), frozenset(), author)


def decide_remove_rules(view: View, now: int, *, rules: frozenset[Rule], author: Author) -> Decision[RuleChange]:
    """Remove rules; the result omits those that do not exist.

    Raises:
        ApiError: 40301, 42212.
    """
    return _decide(view, now, frozenset(), rules & frozenset(view.rules()), author)


def decide_replace_rules(view: View, now: int, *, rules: frozenset[Rule], author: Author) -> Decision[RuleChange]:
    """Replace all rules.

    Raises:
        ApiError: 40301, 42212.
    """
    present = frozenset(view.rules())
    return _decide(view, now, rules - present, present - rules, author)


def _decide(
    view: View, now: int, added: frozenset[Rule], removed: frozenset[Rule], author: Author
) -> Decision[RuleChange]:
    _require_author_rights(view, added, removed, author)
    if removed and not added and not author.is_super_user and len(removed) == len(view.rules()):
        raise errors.LAST_RULE()
    origin = RuleOrigin(author.principal.name, now)
    changes = [
        Record(view.key_bytes(Key(records.RULE, rule=rule)), records.encode_rule(origin), now)
        for rule in _sorted(added)
    ]
    for rule in _sorted(removed):
        changes += tombstone(view, Key(records.RULE, rule=rule), now)
    if len(added) + len(removed) > 1:
        key = view.key_bytes(Key(records.RULE_SET))
        opening, closing = (Record(key, records.encode_rule_set(is_open=is_open), now) for is_open in (True, False))
        changes = [opening, *changes, closing]
    return Decision(RuleChange(added, removed), tuple(changes))


def _require_author_rights(view: View, added: Collection[Rule], removed: Collection[Rule], author: Author) -> None:
    """Refuse a new permission, or the removal of a denial, that grants rights that the author does not hold.

    Raises:
        ApiError: 40301.
    """
    if author.is_super_user:
        return
    giving = [
        *(rule for rule in _sorted(added) if rule.permission == "ALLOW"),
        *(rule for rule in _sorted(removed) if rule.permission == "DENY"),
    ]
    if not giving:
        return
    holdings = Holdings(view.rules(), author.principal, author.address)
    for rule in giving:
        operation = holdings.lacks(rule)
        if operation is not None:
            raise errors.denied(operation, rule.resource_type, rule.resource)


def _sorted(rules: Collection[Rule]) -> list[Rule]:
    return sorted(rules, key=str)
