"""Fingerprints: letters that failed for the same reason have the same one, whatever the numbers in the reason."""

from __future__ import annotations

import re
from hashlib import sha256

from serdes.letters.headers import DeadLetter

#: What differs from record to record: guids, hexadecimal numbers, and other numbers with their signs and points.
_VARIABLE = re.compile(
    r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b|\b0x[0-9a-fA-F]+\b|(?<![\w#])[+-]?\d+(?:[.,:]\d+)*"
)
#: Longest text of a reason: the first line says what is wrong.
_LONGEST = 300


def pattern_of(message: str) -> str:
    """The first line of a reason with `#` for each number and guid."""
    return _VARIABLE.sub("#", message.partition("\n")[0])[:_LONGEST]


def reason_of(failure: DeadLetter | None) -> str:
    """Return the reason in one line without numbers: the quality checks, the exception's text, or its class."""
    if failure is None:
        return "no headers of a dead letter"
    if failure.quality is not None:
        return f"quality: {failure.quality}"
    return pattern_of(failure.message or failure.exception or "no reason is given")


def fingerprint(failure: DeadLetter | None) -> str:
    """Eight hexadecimal digits for stage, exception and reason."""
    stage, exception = ("", "") if failure is None else (failure.stage or "", failure.exception or "")
    return sha256("\n".join((stage, exception, reason_of(failure))).encode()).hexdigest()[:8]
