"""The identity of schemas: the MD5 of a content, and the guid, which is its public form."""

from __future__ import annotations

import hashlib

from registry.state.model import Content


def digest_of(content: Content) -> bytes:
    """The 16-byte MD5 of text, references, metadata and rules, without separators. It leaves out the type."""
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


def same_identity(left: Content, right: Content) -> bool:
    """Tell whether two contents are the same schema: they have one type, and are equal or have one digest."""
    return left.schema_type == right.schema_type and (left == right or digest_of(left) == digest_of(right))


def guid_of(content: Content) -> str:
    """The digest as a UUID in lowercase."""
    digits = digest_of(content).hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
