"""The identity of schemas: the MD5 of a content, and the guid, which is its public form."""

from __future__ import annotations

import hashlib

from compat.contracts.model import Metadata, RuleSet
from registry.state.model import Content


def digest_of(content: Content) -> bytes:
    """The 16-byte MD5 of text, references, metadata and rules, without separators. It leaves out the type."""
    digest = hashlib.md5(content.text.encode("utf-8", "surrogatepass"), usedforsecurity=False)
    for reference in content.references:
        digest.update(reference.name.encode() + reference.subject.encode())
        digest.update(reference.version.to_bytes(4, "big", signed=True))
    if content.metadata is not None:
        digest.update(b"\x01")
        _add_metadata(digest, content.metadata)
    if content.rule_set is not None:
        digest.update(b"\x01")
        _add_rules(digest, content.rule_set)
    return digest.digest()


def same_identity(left: Content, right: Content) -> bool:
    """Tell whether two contents are the same schema: they have one type, and are equal or have one digest."""
    return left.schema_type == right.schema_type and (left == right or digest_of(left) == digest_of(right))


def guid_of(content: Content) -> str:
    """The digest as a UUID in lowercase."""
    digits = digest_of(content).hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def _add_metadata(digest: hashlib._Hash, metadata: Metadata) -> None:
    for path, tags in sorted(metadata.tags.items()):
        digest.update(path.encode())
        for tag in tags:
            digest.update(tag.encode())
    for name, value in sorted(metadata.properties.items()):
        digest.update(name.encode() + value.encode())
    for name in metadata.sensitive:
        digest.update(name.encode())


def _add_rules(digest: hashlib._Hash, rule_set: RuleSet) -> None:
    for _, rules, _ in rule_set.groups:
        for rule in rules:
            for text in (rule.name, rule.doc, rule.kind, rule.mode, rule.type, *rule.tags):
                digest.update((text or "").encode())
            for key, value in sorted(rule.params.items()):
                digest.update(key.encode() + value.encode())
            for text in (rule.expr, rule.on_success, rule.on_failure):
                digest.update((text or "").encode())
            if rule.disabled:
                digest.update(b"\x01")
    if rule_set.enable_at:
        digest.update(rule_set.enable_at.encode())
