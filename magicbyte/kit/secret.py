"""A value that never appears in logs, errors or dumps."""

from __future__ import annotations

import re
from typing import Any

HIDDEN = "[hidden]"
_SECRET_NAME = re.compile(
    r"password|passwd|passphrase|(^|[._-])pwd$|secret|(^|[._-])key($|s$)|account\.key\.|(^|[._-])sas([._-]|$)"
    r"|connection[._-]string|ssl\.keystore\.key|token($|s$)|jaas|user\.info|credential(?!s\.source$)|sasl\.password|confluent\.license$",
    re.IGNORECASE,
)
#: A secret with its name in a longer text, such as options of Java, a JAAS configuration or a signed URL.
_SECRET_IN_TEXT = re.compile(
    r"(?:password|passwd|passphrase|pwd|secret|token|credential|account[._-]?key|\bsig|signature)[\w.-]*[\"']?\s*[=:]"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY|\beyJ[\w-]{8,}\.[\w-]{8,}\.",  # a JSON Web Token
    re.IGNORECASE,
)
#: Secret keys of S3 may have slashes.
_USER_INFO = re.compile(r"(?<=://)[^/?#\s]*@|(?<=s3://)[^/:?#\s]+:[^?#\s@]+@|(?<=s3[an]://)[^/:?#\s]+:[^?#\s@]+@")
_QUERY_SECRET = re.compile(
    r"([?&;][^=?&;\s]*(?:password|passwd|secret|token|credential)[^=?&;\s]*=)[^&;\s'\"]+", re.IGNORECASE
)


class Secret:
    """A text that `repr`, `str` and JSON show as `[hidden]`; only `reveal` returns it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the text."""
        return self._text

    def __repr__(self) -> str:
        return HIDDEN

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> Any:
        raise TypeError("a secret is not pickled")


def is_secret(name: str) -> bool:
    """Tell whether the value of a property with this name must be hidden."""
    return _SECRET_NAME.search(name) is not None


def has_secret(text: str) -> bool:
    """Tell whether a text seems to contain a secret: user info of a URL, or the name of a secret with its value.

    It is strict: a text without a secret may look like one with a secret, such as the SQL `token = 'a'`.
    """
    return hide_user_info(text) != text or _SECRET_IN_TEXT.search(text) is not None


def hide_user_info(text: str) -> str:
    """Return a text without the user names and passwords of the URLs in it, before their hosts and in their queries."""
    return hide_query_secrets(_USER_INFO.sub(f"{HIDDEN}@", text))


def hide_query_secrets(text: str) -> str:
    """Return a text without the passwords in the queries of the URLs in it, such as `?password=`."""
    return _QUERY_SECRET.sub(rf"\1{HIDDEN}", text)


def shown(name: str, value: object) -> str:
    """Return a property's value for display: `[hidden]` for a secret, otherwise its `repr` without user info."""
    return HIDDEN if is_secret(name) else hide_user_info(repr(value))
