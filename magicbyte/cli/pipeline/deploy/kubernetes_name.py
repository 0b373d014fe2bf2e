"""Names of objects in Kubernetes, made of the names of pipelines."""

from __future__ import annotations

import hashlib

#: The longest name: Spark and the operator append up to 11 characters (`-driver-svc`) for names of at most 63.
_LONGEST = 52
_DIGEST = 6


def kubernetes_name(name: str) -> str:
    """A name by RFC 1035, which services need: letters a-z, digits and `-`, with a letter first and no `-` at the end.

    A pipeline's name has no other characters. A name that is too long is cut, and gets a digest of the whole.
    """
    first = name.strip("-")
    if not first[:1].isalpha():
        first = f"p-{first}".rstrip("-")
    if len(first) <= _LONGEST:
        return first
    digest = hashlib.sha256(name.encode()).hexdigest()[:_DIGEST]
    return f"{first[: _LONGEST - _DIGEST - 1].rstrip('-')}-{digest}"
