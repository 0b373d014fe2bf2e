"""The formats of text that `isEmail`, `isHostname` and their like test, by the rules of protovalidate."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from ipaddress import AddressValueError, IPv4Address, IPv6Address

from compat.contracts.cel.functions.uris import is_uri, is_uri_reference

_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
#: The pattern of HTML's `input type=email`.
_EMAIL = re.compile(rf"[A-Za-z0-9.!#$%&'*+/=?^_`{{|}}~-]+@{_LABEL}(?:\.{_LABEL})*")
_HOST_NAME = re.compile(rf"(?:{_LABEL}\.)*(?![0-9]+\.?\Z){_LABEL}\.?")
_LONGEST_HOST_NAME = 253
_UUID = re.compile("[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


def is_email(text: str) -> bool:
    """Whether a text is an e-mail address as HTML defines it."""
    return _EMAIL.fullmatch(text) is not None


def is_host_name(text: str) -> bool:
    """Whether a text is a host name: labels of letters, digits and hyphens; the last label is no number."""
    return len(text) <= _LONGEST_HOST_NAME and _HOST_NAME.fullmatch(text) is not None


def is_ipv4(text: str) -> bool:
    """Whether a text is an IPv4 address: four decimal numbers without leading zeros."""
    return _is_address(IPv4Address, text)


def is_ipv6(text: str) -> bool:
    """Whether a text is an IPv6 address of RFC 4291, with or without a zone."""
    return "\0" not in text and _is_address(IPv6Address, text)


def is_uuid(text: str) -> bool:
    """Whether a text is a UUID: 8-4-4-4-12 hexadecimal digits."""
    return _UUID.fullmatch(text) is not None


def _is_address(address: Callable[[str], object], text: str) -> bool:
    try:
        address(text)
    except AddressValueError:
        return False
    return True


#: The tests by the name of their function.
FORMATS: Mapping[str, Callable[[str], bool]] = {
    "isEmail": is_email,
    "isHostname": is_host_name,
    "isIpv4": is_ipv4,
    "isIpv6": is_ipv6,
    "isUri": is_uri,
    "isUriRef": is_uri_reference,
    "isUuid": is_uuid,
}
