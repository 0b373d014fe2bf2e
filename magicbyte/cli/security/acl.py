"""`magicbyte acl`: access rules in a file."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from magicbyte.kit.failure import Failure, say
from magicbyte.security.principal import Principal
from magicbyte.security.rights.rule import OPERATIONS, Rule, RuleError, make_rule
from magicbyte.security.rights.rule_file import format_rule, format_rules, read_rule_file
from magicbyte.security.rights.rules import Rules

#: Option -> resource type.
_RESOURCES = {resource_type.lower().replace("_", "-"): resource_type for resource_type in OPERATIONS}


def main(arguments: Sequence[str]) -> int:
    """Show, change or ask rules; returns the exit code: of `check`, 1 if the principal may not."""
    parser = argparse.ArgumentParser(prog="magicbyte acl", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, text, run in (
        ("list", "show all rules", _list),
        ("add", "add rules, one for each operation", _add),
        ("remove", "remove rules, one for each operation", _remove),
        ("check", "tell whether a principal may do something, and which rule decides", _check),
    ):
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(run=run)
        command.add_argument("--file", type=Path, required=True, metavar="FILE", help="the file of rules")
        if name in ("add", "remove"):
            effect = command.add_mutually_exclusive_group(required=True)
            effect.add_argument("--allow", metavar="PRINCIPAL", help="such as User:alice, Group:ops or User:*")
            effect.add_argument("--deny", metavar="PRINCIPAL", help="as --allow; a denial wins over every permission")
            command.add_argument("--prefixed", action="store_true", help="the name is the beginning of names")
            command.add_argument("--host", default="*", metavar="CIDR", help="where the client has to be")
        if name == "check":
            command.add_argument("--principal", required=True, metavar="User:NAME", help="who asks")
            command.add_argument("--member-of", action="append", default=[], metavar="GROUP", help="a group of theirs")
            command.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="where the client is")
        if name != "list":
            command.add_argument("--operation", required=True, metavar="OPERATION,..", help="such as READ,WRITE")
            resource = command.add_mutually_exclusive_group(required=True)
            for option in _RESOURCES:
                resource.add_argument(f"--{option}", metavar="NAME", help="the name, or * for all")
    options = parser.parse_args(arguments)
    try:
        code: int = options.run(options)
    except RuleError as error:
        raise Failure(str(error)) from None
    return code


def _list(options: argparse.Namespace) -> int:
    print(format_rules(read_rule_file(options.file)), end="")
    return 0


def _add(options: argparse.Namespace) -> int:
    rules = read_rule_file(options.file) if options.file.exists() else frozenset()
    _write(options.file, rules | _rules(options))
    return 0


def _remove(options: argparse.Namespace) -> int:
    rules, removed = read_rule_file(options.file), _rules(options)
    missing = removed - rules
    if missing:
        raise Failure(f"{options.file} has no rule {format_rule(min(missing, key=str))}")
    _write(options.file, rules - removed)
    return 0


def _check(options: argparse.Namespace) -> int:
    resource_type, name = _resource(options)
    principal = Principal(options.principal, frozenset(f"Group:{group}" for group in options.member_of))
    rules = Rules(read_rule_file(options.file))
    allowed = True
    for operation in options.operation.split(","):
        checked = make_rule(options.principal, operation, resource_type, name)
        decision = rules.decide(principal, options.host, checked.operation, resource_type, checked.resource)
        by = format_rule(decision.rule) if decision.rule is not None else "no rule allows it"
        print(f"{checked.operation} {'allowed' if decision.is_allowed else 'denied'}: {by}")
        allowed = allowed and decision.is_allowed
    return 0 if allowed else 1


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


def _write(path: Path, rules: frozenset[Rule]) -> None:
    """Put a whole file in place of the old one; comments of the old one are lost, which a file with some is not."""
    if path.exists() and any(line.lstrip().startswith("#") for line in path.read_text(encoding="utf-8").splitlines()):
        raise Failure(f"{path} has comments, which would be lost; change it by hand")
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(format_rules(rules), encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise Failure(f"{path} cannot be written: {error.strerror}") from None
    say(f"{path} has {len(rules)} rules now")
