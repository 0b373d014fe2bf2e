"""Removes secrets from log lines, also from messages and errors of libraries."""

from __future__ import annotations

import re
from functools import lru_cache

from magicbyte.kit.secret import HIDDEN, hide_user_info, is_secret

#: A text without any of these has nothing to hide.
_SUSPECT = re.compile(r"://|[?&;]\S|authorization|\b(?:basic|bearer|digest|negotiate)\s", re.IGNORECASE)
#: The value of an Authorization header: with the header's name, or credentials behind the name of a scheme.
_AUTHORIZATION = re.compile(
    r"((?<![.\w])(?:proxy-)?authorization[\"']?\s*[:=,]\s*(?:b?[\"'])?(?:(?:basic|bearer|digest|negotiate)\s+)?)"
    r"[^\s\"',;)\]}]+",
    re.IGNORECASE,
)
_CREDENTIALS = re.compile(
    r"\b(basic|bearer|digest|negotiate)(\s+)(?=[^\s\"',;)\]}]*(?-i:[0-9A-Z=]))[A-Za-z0-9._~+/=-]{6,}", re.IGNORECASE
)

is_secret_name = lru_cache(maxsize=256)(is_secret)


def without_secrets(text: str) -> str:
    """Return a text without user info of URLs, secrets in their queries, and values of Authorization."""
    if _SUSPECT.search(text) is None:
        return text
    hidden = _AUTHORIZATION.sub(rf"\1{HIDDEN}", hide_user_info(text))
    return _CREDENTIALS.sub(rf"\1\2{HIDDEN}", hidden)


def shown_field(name: str, value: object) -> object:
    """Return a field of a log line: `[hidden]` if its name is that of a secret, texts without secrets."""
    if is_secret_name(name):
        return HIDDEN
    return without_secrets(value) if isinstance(value, str) else value
