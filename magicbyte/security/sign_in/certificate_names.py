"""Principals of client certificates: the subject in Java's form, and the rules that shorten it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from unicodedata import category

if TYPE_CHECKING:
    from cryptography.x509 import Name, NameAttribute

_MAX_BYTES = 1024
#: The attribute types with a name in RFC 2253.
_KEYWORDS = {
    "2.5.4.3": "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "STREET",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "0.9.2342.19200300.100.1.25": "DC",
    "0.9.2342.19200300.100.1.1": "UID",
}
#: The ASN.1 types of text: UTF8String, PrintableString, T61String, IA5String, GeneralString, BMPString.
_TEXT_TAGS = frozenset((12, 19, 20, 22, 27, 30))
_ENCODINGS = {20: "latin-1", 28: "utf-32-be", 30: "utf-16-be"}
_ESCAPED = frozenset(',=+<>#;"\\')
_RULES = re.compile(r"\s*(?:(DEFAULT)|RULE:((?:\\.|[^\\/])*)/((?:\\.|[^\\/])*)/([LU]?))\s*(?:,(?=.)|$)", re.DOTALL)
_REFERENCE = re.compile(r"\\(.)|\$(\d)", re.DOTALL)
_CASES: dict[str, Callable[[str], str]] = {"": str, "L": str.lower, "U": str.upper}


def subject_of(der: bytes) -> str:
    """Return the subject of a certificate as Java's RFC 2253 text, such as `CN=alice,OU=eng,O=Acme`.

    Raises:
        ValueError: It is longer than 1 KiB.
    """
    from cryptography.x509 import load_der_x509_certificate  # noqa: PLC0415  slow to import

    text = name_text(load_der_x509_certificate(der).subject)
    if len(text.encode()) > _MAX_BYTES:
        raise ValueError("the subject of the certificate is longer than 1 KiB")
    return text


def name_text(name: Name) -> str:
    """Return a distinguished name as Java's RFC 2253 text."""
    return ",".join("+".join(map(_attribute, rdn)) for rdn in reversed(name.rdns))


def _attribute(attribute: NameAttribute[str | bytes]) -> str:
    oid, value = attribute.oid.dotted_string, attribute.value
    tag = attribute._type.value  # noqa: SLF001  there is no public name for it
    content = value if isinstance(value, bytes) else value.encode(_ENCODINGS.get(tag, "utf-8"))
    keyword = _KEYWORDS.get(oid)
    if keyword is None or tag not in _TEXT_TAGS:
        width = (len(content).bit_length() + 7) // 8
        size = bytes((len(content),)) if len(content) < 128 else bytes((128 | width,)) + len(content).to_bytes(width)
        return f"{keyword or oid}=#{(bytes((tag,)) + size + content).hex()}"
    # Java decodes the bytes of every type of text as UTF-8.
    return f"{keyword}={_escaped(content.decode(errors='replace'))}"


def _escaped(value: str) -> str:
    escaped = ["\\" + c if c in _ESCAPED else "\\00" if c == "\0" else c for c in value]
    blank = [c in (" ", "\r") for c in escaped]
    lead = next((index for index, is_blank in enumerate(blank) if not is_blank), len(blank))
    trail = next((index for index in reversed(range(len(blank))) if not blank[index]), -1)
    return "".join("\\" + c if index < lead or index > trail else c for index, c in enumerate(escaped))


@dataclass(frozen=True, slots=True)
class MappingRule:
    """A rule: a pattern for the whole subject, and its replacement; without a pattern the subject stays unchanged."""

    pattern: re.Pattern[str] | None
    replacement: str = ""
    case: str = ""

    def apply(self, subject: str) -> str | None:
        """Return the name of a subject, or None if the pattern does not match all of it."""
        if self.pattern is None:
            return subject
        match = self.pattern.fullmatch(subject)
        if match is None:
            return None

        def replace(reference: re.Match[str]) -> str:
            assert match is not None
            return reference[1] if reference[1] is not None else match[int(reference[2])] or ""

        return _CASES[self.case](_REFERENCE.sub(replace, self.replacement))


def parse_mapping_rules(text: str) -> tuple[MappingRule, ...]:
    """Parse Kafka's `ssl.principal.mapping.rules`; without rules, the subject is the name.

    Raises:
        ValueError: A rule is malformed, its pattern is not valid in Python, or it uses a group that the pattern lacks.
    """
    rules: list[MappingRule] = []
    position, text = 0, text.strip()
    while position < len(text):
        match = _RULES.match(text, position)
        if match is None:
            raise ValueError(f"{text[position:]!r} is no rule; write DEFAULT or RULE:pattern/replacement/[L|U]")
        position = match.end()
        rules.append(MappingRule(None) if match[1] else _rule(match[2], match[3], match[4]))
    return tuple(rules) or (MappingRule(None),)


def _rule(pattern: str, replacement: str, case: str) -> MappingRule:
    try:
        compiled = re.compile(pattern, re.ASCII)
    except re.error as error:
        raise ValueError(f"the pattern {pattern!r} can't be used here: {error}") from None
    groups = [int(group) for _, group in _REFERENCE.findall(replacement) if group]
    if any(group > compiled.groups for group in groups):
        raise ValueError(f"the pattern {pattern!r} has no group {max(groups)}")
    return MappingRule(compiled, replacement, case)


def name_of(subject: str, rules: tuple[MappingRule, ...]) -> str | None:
    """Return the name of a subject by the first matching rule; None if no rule yields a valid name."""
    for rule in rules:
        name = rule.apply(subject)
        if name is not None:
            return name if name and not any(category(character) == "Cc" for character in name) else None
    return None
