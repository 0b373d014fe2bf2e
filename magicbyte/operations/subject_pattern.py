"""Patterns of subjects: `orders-*` in the default context, `:.eu:*` in another, `:*:orders-*` in every one."""

from __future__ import annotations

from fnmatch import fnmatchcase

from registry.state.model import parse_subject

_ANY_CONTEXT = ":*:"


def matches_subject(name: str, pattern: str) -> bool:
    """Tell whether a pattern has a subject, or a context's settings, whose name in its context is empty."""
    context, bare = parse_subject(name)
    if pattern.startswith(_ANY_CONTEXT):
        return fnmatchcase(bare, pattern.removeprefix(_ANY_CONTEXT))
    wanted_context, wanted = parse_subject(pattern)
    return context == wanted_context and fnmatchcase(bare, wanted)
