"""Rules in a file, one per line: `allow User:alice READ,WRITE SUBJECT PREFIXED orders- from 10.0.0.0/8`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from magicbyte.kit.failure import Failure
from magicbyte.security.rights.rule import Rule, RuleError, make_rule

_FORM = "allow|deny PRINCIPAL OPERATION[,OPERATION] TYPE LITERAL|PREFIXED NAME [from HOST]"
_WORD = re.compile(r'("(?:\\.|[^"\\])*"|[^\s"]+)(?:\s+|$)')
_PLAIN = re.compile(r'[^\s"#]+')


class RuleFileError(Failure):
    """A file of rules that cannot be used; the text names file and line."""


def read_rule_file(path: Path, *, may_be_empty: bool = False) -> frozenset[Rule]:
    """Read a file of rules.

    Args:
        path: The file.
        may_be_empty: Whether an empty file means no rules, instead of an error.

    Raises:
        RuleFileError: It cannot be read, is empty, or has a line that is not a rule; then none of its rules is used.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise RuleFileError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise RuleFileError(f"{path} is no UTF-8 text") from None
    if not text and not may_be_empty:
        # An empty file is more likely truncated than intended.
        raise RuleFileError(f"{path} is empty; if it is to have no rules, write a comment line")
    rules: set[Rule] = set()
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            rules |= parse_line(line)
        except RuleError as error:
            raise RuleFileError(f"{path}, line {number}: {error}") from None
    return frozenset(rules)


def parse_line(line: str) -> set[Rule]:
    """Parse one line; several operations make several rules.

    Raises:
        RuleError: The line is not a rule.
    """
    words = [_unquoted(word) for word in _words(line)]
    if words and words[0].lower() == "quota":
        raise RuleError("quotas are not supported; remove the line")
    if len(words) not in (6, 8) or words[0].lower() not in ("allow", "deny"):
        raise RuleError(f"write {_FORM}; names with spaces as JSON strings")
    if len(words) == 8 and words[6].lower() != "from":
        raise RuleError(f"write {_FORM}; names with spaces as JSON strings")
    permission, principal, operations, resource_type, pattern_type, name = words[:6]
    return {
        make_rule(
            principal,
            operation,
            resource_type,
            name,
            pattern_type=pattern_type,
            permission=permission,
            host=words[7] if len(words) == 8 else "*",
        )
        for operation in operations.split(",")
    }


def format_rule(rule: Rule) -> str:
    """Format a rule as a line of a file."""
    principal, resource = _quoted(rule.principal), _quoted(rule.resource)
    subject = f"{rule.permission.lower()} {principal} {rule.operation} {rule.resource_type}"
    return f"{subject} {rule.pattern_type} {resource}" + ("" if rule.host == "*" else f" from {rule.host}")


def format_rules(rules: Iterable[Rule]) -> str:
    """Format rules as the text of a file, sorted."""
    return "".join(f"{line}\n" for line in sorted(map(format_rule, rules)))


def _words(line: str) -> list[str]:
    words: list[str] = []
    position, line = 0, line.strip()
    while position < len(line):
        match = _WORD.match(line, position)
        if match is None:
            raise RuleError(f"{line[position:]!r} is neither a word nor a JSON string")
        words.append(match[1])
        position = match.end()
    return words


def _unquoted(word: str) -> str:
    if not word.startswith('"'):
        return word
    try:
        return str(json.loads(word))
    except ValueError:
        raise RuleError(f"{word} is no JSON string") from None


def _quoted(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)
