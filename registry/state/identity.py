"""When two schemas are the same: the MD5 of a content, and the guid that is its public form."""

from __future__ import annotations

import hashlib

from registry.state.model import Content


def digest_of(content: Content) -> bytes:
    """The 16-byte MD5 over text, references, metadata and rules, without separators; the type is not part of it."""
    digest = hashlib.md5(content.text.encode("utf-8", "surrogatepass"), usedforsecurity=False)
    for reference in content.references:
        digest.update(reference.name.encode() + reference.subject.encode())
        digest.update(reference.version.to_bytes(4, "big", signed=True))
    if content.metadata is not None:
        digest.update(b"\x01")
        content.metadata.update(digest)
    if content.rule_set is not None:
        digest.update(b"\x01")
        content.rule_set.update(digest)
    return digest.digest()


def same_identity(one: Content, other: Content) -> bool:
    """Tell whether two contents are the same schema: equal, or only different in what the digest counts alike."""
    return one.schema_type == other.schema_type and (one == other or digest_of(one) == digest_of(other))


def guid_of(content: Content) -> str:
    """The digest as a UUID in lower case."""
    digits = digest_of(content).hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
