"""`magicbyte acl`: access rules in a file or in a registry's log.

Exit code 0; 1 for failures, and if `check` finds that the operation is denied.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from magicbyte.cli.security.rule_stores import RuleStore, add_store_options, open_store
from magicbyte.kit.command_line import CommandParser
from magicbyte.kit.failure import Failure, say
from magicbyte.security.principal import Principal
from magicbyte.security.rights.rule import OPERATIONS, Rule, RuleError, make_rule
from magicbyte.security.rights.rule_file import format_rule, format_rules, read_rule_file
from magicbyte.security.rights.rule_set import Rules

#: Option -> resource type.
_RESOURCES = {resource_type.lower().replace("_", "-"): resource_type for resource_type in OPERATIONS}


def main(arguments: Sequence[str]) -> int:
    """Show, change or check rules; returns the exit code."""
    parser = CommandParser(prog="magicbyte acl", description=__doc__, examples=("magicbyte acl list --file rules",))
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, text, run, example in (
        ("list", "show all rules", _list, ""),
        ("add", "add rules, one for each operation", _add, "--allow User:app --operation READ,WRITE --subject '*'"),
        ("remove", "remove rules, one for each operation", _remove, "--deny User:app --operation WRITE --topic orders"),
        ("apply", "put the rules of a file in the place of all, at once", _apply, "new-rules --dry-run"),
        (
            "check",
            "tell whether a principal may do something, and which rule decides",
            _check,
            "--principal User:app --operation READ --subject orders-value",
        ),
    ):
        line = f"magicbyte acl {name} --file rules {example}".rstrip()
        command = commands.add_parser(name, help=text, description=text, examples=(line,))
        command.set_defaults(run=run)
        add_store_options(command)
        if name in ("add", "remove"):
            effect = command.add_mutually_exclusive_group(required=True)
            effect.add_argument("--allow", metavar="PRINCIPAL", help="such as User:alice, Group:ops or User:*")
            effect.add_argument("--deny", metavar="PRINCIPAL", help="as --allow; a denial wins over every permission")
            command.add_argument("--prefixed", action="store_true", help="the name is the beginning of names")
            command.add_argument(
                "--host", default="*", metavar="ADDRESS", help="the client's address or network (CIDR)"
            )
        if name == "apply":
            command.add_argument("rules", type=Path, metavar="RULES", help="the file with the rules as they are to be")
            command.add_argument("--dry-run", action="store_true", help="tell what would be done, and do nothing")
        if name == "check":
            command.add_argument("--principal", required=True, metavar="User:NAME", help="who asks")
            command.add_argument("--member-of", action="append", default=[], metavar="GROUP", help="a group of theirs")
            command.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="the client's address")
        if name in ("add", "remove", "check"):
            command.add_argument("--operation", required=True, metavar="OPERATION,..", help="such as READ,WRITE")
            resource = command.add_mutually_exclusive_group(required=True)
            for option in _RESOURCES:
                resource.add_argument(f"--{option}", metavar=option.upper(), help="the name, or * for all")
    options = parser.parse_args(arguments)
    try:
        with open_store(options) as store:
            code: int = options.run(store, options)
    except RuleError as error:
        raise Failure(str(error)) from None
    return code


def _list(store: RuleStore, _options: argparse.Namespace) -> int:
    print(format_rules(store.rules()), end="")
    return 0


def _add(store: RuleStore, options: argparse.Namespace) -> int:
    store.add(_rules(options))
    _tell_count(store)
    return 0


def _remove(store: RuleStore, options: argparse.Namespace) -> int:
    removed = _rules(options)
    missing = removed - store.rules()
    if missing:
        raise Failure(f"{store.name} has no rule {format_rule(min(missing, key=str))}")
    store.remove(removed)
    _tell_count(store)
    return 0


def _apply(store: RuleStore, options: argparse.Namespace) -> int:
    added, removed = store.replace(read_rule_file(options.rules, may_be_empty=True), dry_run=options.dry_run)
    for sign, rules in (("+", added), ("-", removed)):
        for line in format_rules(rules).splitlines():
            print(f"{sign} {line}")
    number = len(added) + len(removed)
    if number:
        print(f"{number} change{'s' * (number != 1)}{': nothing was changed (dry run)' if options.dry_run else ''}")
    else:
        print("the rules are as the file says")
    return 0


def _check(store: RuleStore, options: argparse.Namespace) -> int:
    resource_type, name = _resource(options)
    principal = Principal(options.principal, frozenset(f"Group:{group}" for group in options.member_of))
    rules = Rules(store.rules())
    allowed = True
    for operation in options.operation.split(","):
        checked = make_rule(options.principal, operation, resource_type, name)
        decision = rules.decide(principal, options.host, checked.operation, resource_type, checked.resource)
        by = format_rule(decision.rule) if decision.rule is not None else "no rule allows it"
        print(f"{checked.operation} {'allowed' if decision.is_allowed else 'denied'}: {by}")
        allowed = allowed and decision.is_allowed
    return 0 if allowed else 1


def _tell_count(store: RuleStore) -> None:
    say(f"{store.name} has {len(store.rules())} rules now")


def _resource(options: argparse.Namespace) -> tuple[str, str]:
    for option, resource_type in _RESOURCES.items():
        name = getattr(options, option.replace("-", "_"))
        if name is not None:
            return resource_type, name
    raise Failure("name a resource")


def _rules(options: argparse.Namespace) -> frozenset[Rule]:
    resource_type, name = _resource(options)
    return frozenset(
        make_rule(
            options.allow or options.deny,
            operation,
            resource_type,
            name,
            pattern_type="PREFIXED" if options.prefixed else "LITERAL",
            permission="ALLOW" if options.allow else "DENY",
            host=options.host,
        )
        for operation in options.operation.split(",")
    )
