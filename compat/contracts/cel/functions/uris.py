"""URIs and references to them, by the grammar of RFC 3986."""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv6Address

_UNRESERVED = "A-Za-z0-9._~-"
_DELIMITERS = "!$&'()*+,;="
_PERCENT = "%[0-9A-Fa-f]{2}"
_PATH_CHARACTER = f"(?:[{_DELIMITERS}:@{_UNRESERVED}]|{_PERCENT})"
_SEGMENTS = f"(?:/{_PATH_CHARACTER}*)*"
_USER = f"(?:(?:[{_DELIMITERS}:{_UNRESERVED}]|{_PERCENT})*@)?"
_NAME = f"(?:[{_DELIMITERS}{_UNRESERVED}]|{_PERCENT})*"
#: An address in brackets: that of a later version, or one of IPv6 (checked apart) with the zone of RFC 6874.
_ADDRESS = (
    rf"\[(?:[vV][0-9A-Fa-f]+\.[{_DELIMITERS}:{_UNRESERVED}]+"
    rf"|(?P<ipv6>[0-9A-Fa-f:.]+)(?:%25(?:[{_UNRESERVED}]|{_PERCENT})+)?)\]"
)
_AUTHORITY = f"//{_USER}(?:{_ADDRESS}|{_NAME})(?::[0-9]*)?{_SEGMENTS}"
_ABSOLUTE = f"/(?:{_PATH_CHARACTER}+{_SEGMENTS})?"
_ROOTLESS = f"{_PATH_CHARACTER}+{_SEGMENTS}"
#: The first segment of a relative path has no colon, since that would end a scheme.
_NO_SCHEME = f"(?:[{_DELIMITERS}@{_UNRESERVED}]|{_PERCENT})+{_SEGMENTS}"
_TAIL = rf"(?:\?(?:{_PATH_CHARACTER}|[/?])*)?(?:#(?:{_PATH_CHARACTER}|[/?])*)?"
_URI = re.compile(f"[A-Za-z][A-Za-z0-9+.-]*:(?:{_AUTHORITY}|{_ABSOLUTE}|{_ROOTLESS}|){_TAIL}")
_RELATIVE = re.compile(f"(?:{_AUTHORITY}|{_ABSOLUTE}|{_NO_SCHEME}|){_TAIL}")


def is_uri(text: str) -> bool:
    """Whether a text is a URI; it has a scheme."""
    return _matches(_URI, text)


def is_uri_reference(text: str) -> bool:
    """Whether a text is a URI, or a reference relative to one."""
    return is_uri(text) or _matches(_RELATIVE, text)


def _matches(pattern: re.Pattern[str], text: str) -> bool:
    found = pattern.fullmatch(text)
    if found is None:
        return False
    try:
        return found["ipv6"] is None or bool(IPv6Address(found["ipv6"]))
    except AddressValueError:
        return False
