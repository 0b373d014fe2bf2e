"""The records of the `_schemas` topic: keys and values, byte for byte as the reference writes them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson
from msgspec.structs import replace

from compat.contracts.model import Metadata, RuleSet
from compat.schema import AVRO, Reference
from magicbyte.security.rights.rule import Rule, RuleError
from magicbyte.security.rights.rule_json import rule_from_json, rule_to_json
from registry.log.port import Record
from registry.state.json_text import load_json
from registry.state.model import (
    MAX_VERSION,
    Config,
    Content,
    Kept,
    MirrorMark,
    RuleOrigin,
    Version,
    in_bounds,
    kept_form,
)

SCHEMA = "SCHEMA"
CONFIG = "CONFIG"
MODE = "MODE"
CONTEXT = "CONTEXT"
DELETE_SUBJECT = "DELETE_SUBJECT"
CLEAR_SUBJECT = "CLEAR_SUBJECT"
NOOP = "NOOP"
#: The highest id ever assigned in a context, written if deleting records would make the log forget it. The reference
#: does not know this key type and skips the record.
ID_MARK = "MAGICBYTE_ID_MARK"
#: Written by each new leader after the writes it had to settle; it has a value, so that compaction keeps the last one.
SETTLED = "MAGICBYTE_SETTLED"
#: The offset up to which changes were posted to webhooks, and the node that did; a new leader continues from there.
POSTED = "MAGICBYTE_POSTED"
#: An access rule: the key is the rule, and a tombstone removes it. The reference skips these records, too.
RULE = "MAGICBYTE_ACL"
#: The mark of the mirror that writes into a context; the reference skips it.
MIRROR = "MAGICBYTE_MIRROR"
#: Written before and after access rules that change together; the rules take effect when it is closed.
RULE_SET = "MAGICBYTE_ACL_SET"


class Key(NamedTuple):
    """A record's key: its type, and its subject, version, context or access rule."""

    keytype: str
    subject: str | None = None
    version: int | None = None
    rule: Rule | None = None


class Undecodable(ValueError):
    """A record that the registry cannot read; the text says why."""

    #: The reason under which such records are counted.
    reason = "undecodable"


class OutOfBounds(Undecodable):
    """A record with an id or a version that no route accepts; other writers may have written it."""

    reason = "out of bounds"

    def __init__(self, holder: str, field: str, value: object) -> None:
        super().__init__(f"{holder}: {field} {value} is not from 1 to {MAX_VERSION}")


@dataclass(frozen=True, slots=True)
class _Shape:
    """The fields of a key: the one with the record's subject or context, and the constant ones."""

    about: str | None
    before: tuple[tuple[str, str], ...] = ()
    needs_about: bool = True
    versioned: bool = False
    magic: int = 0


_SHAPES = {
    SCHEMA: _Shape("subject", versioned=True, magic=1),
    CONFIG: _Shape("subject", needs_about=False),
    MODE: _Shape("subject", needs_about=False),
    CONTEXT: _Shape("context", before=(("tenant", "default"),)),
    DELETE_SUBJECT: _Shape("subject"),
    CLEAR_SUBJECT: _Shape("subject"),
    NOOP: _Shape(None, needs_about=False),
    ID_MARK: _Shape("context"),
    SETTLED: _Shape(None, needs_about=False),
    POSTED: _Shape(None, needs_about=False),
    RULE: _Shape(None, needs_about=False),
    RULE_SET: _Shape(None, needs_about=False),
    MIRROR: _Shape("context"),
}


def encode_key(key: Key) -> bytes:
    """The key's bytes; the order of fields matters because compaction compares bytes."""
    if key.keytype == SCHEMA and key.version is not None:
        return b'{"keytype":"SCHEMA","subject":%b,"version":%d,"magic":1}' % (orjson.dumps(key.subject), key.version)
    shape = _SHAPES[key.keytype]
    parts: dict[str, Any] = {"keytype": key.keytype, **dict(shape.before)}
    if shape.about is not None and key.subject is not None:
        parts[shape.about] = key.subject
    if shape.versioned:
        parts["version"] = key.version
    if key.rule is not None:
        parts |= rule_to_json(key.rule)
    return orjson.dumps(parts | {"magic": shape.magic})


def decode_key(raw: bytes | None) -> Key:
    """Decode a key with its fields in any order, and with the null fields that old servers wrote.

    Raises:
        Undecodable: The key is not JSON, of an unknown type, or lacks what its type needs.
        OutOfBounds: The version is not from 1 to 2^31-1.
        MemoryError: There is not enough memory to decode it.
    """
    try:
        parts = load_json(raw or b"")
    except orjson.JSONDecodeError as error:
        raise Undecodable(f"key is not JSON: {error}") from None
    keytype = parts.get("keytype") if isinstance(parts, dict) else None
    shape = _SHAPES.get(keytype) if isinstance(keytype, str) else None
    if keytype is None or shape is None:
        raise Undecodable(f"unknown key type {keytype!r}")
    subject = parts.get(shape.about) if shape.about else None
    if subject is not None and not isinstance(subject, str):
        raise Undecodable(f"{shape.about} is not a string")
    if subject is None and shape.needs_about:
        raise Undecodable(f"a {keytype} key needs a {shape.about}")
    version = parts.get("version") if shape.versioned else None
    if shape.versioned and (type(version) is not int or parts.get("magic") not in (0, 1)):
        raise Undecodable(f"a {keytype} key needs a version and magic 0 or 1")
    if shape.versioned and not in_bounds(version):
        raise OutOfBounds(f"subject {subject!r}", "version", version)
    # A subject occurs in each of its versions: keep one copy of it.
    return Key(keytype, subject and sys.intern(subject), version, _rule(parts) if keytype == RULE else None)


def _rule(parts: dict[str, Any]) -> Rule:
    try:
        return rule_from_json(parts)
    except RuleError as error:
        raise Undecodable(f"a {RULE} key is not an access rule: {error}") from None


def decode_value(raw: bytes) -> dict[str, Any]:
    """Decode a value, which must be a JSON object.

    Raises:
        Undecodable: The value is not a JSON object.
        MemoryError: There is not enough memory to decode it.
    """
    try:
        value = load_json(raw)
    except orjson.JSONDecodeError as error:
        raise Undecodable(f"value is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise Undecodable("value is not an object")
    return value


def encode_version(version: Version) -> bytes:
    """The value of a SCHEMA record."""
    content = version.content
    parts: dict[str, Any] = {
        "subject": version.subject,
        "version": version.number,
        "id": version.schema_id,
        "schemaType": content.schema_type,
    }
    parts |= content_extras(content)
    return orjson.dumps(parts | {"schema": content.text, "deleted": version.deleted})


def version_record(key: bytes, version: Version) -> Record:
    """The SCHEMA record of a version; it carries the version exactly as decoding the record would return it."""
    kept = version.kept
    if isinstance(kept, Content):
        kept = replace(kept, schema_type=sys.intern(kept.schema_type))
    # A subject occurs in each of its versions: keep one copy of it.
    subject = sys.intern(version.subject)
    decoded = version
    if subject is not version.subject or kept is not version.kept:
        decoded = replace(version, subject=subject, kept=kept)
    return Record(key, encode_version(decoded), version.timestamp, decoded)


def content_extras(content: Content) -> dict[str, Any]:
    """References, metadata and rules as JSON; empty ones are omitted."""
    extras: dict[str, Any] = {}
    if content.references:
        extras["references"] = [reference._asdict() for reference in map(ReferenceJson.of, content.references)]
    if content.metadata is not None:
        extras["metadata"] = content.metadata.to_json()
    if content.rule_set is not None:
        extras["ruleSet"] = content.rule_set.to_json()
    return extras


class ReferenceJson(NamedTuple):
    """A reference's fields in wire order."""

    name: str
    subject: str
    version: int

    @classmethod
    def of(cls, reference: Reference) -> ReferenceJson:
        """The fields of a reference."""
        return cls(reference.name, reference.subject, reference.version)


def decode_version(key: Key, value: dict[str, Any], timestamp: int) -> Version:
    """Decode the value of a SCHEMA record; subject and version come from the key.

    Raises:
        Undecodable: A field is missing or of a wrong type.
        OutOfBounds: The id is not from 1 to 2^31-1.
    """
    assert key.subject is not None
    assert key.version is not None
    schema_id, text = value.get("id"), value.get("schema")
    if type(schema_id) is not int or not isinstance(text, str):
        raise Undecodable("a SCHEMA value needs an id and a schema")
    if not in_bounds(schema_id):
        raise OutOfBounds(f"subject {key.subject!r} version {key.version}", "id", schema_id)
    return Version(key.subject, key.version, schema_id, _kept(value, text), bool(value.get("deleted")), timestamp)


def _kept(value: dict[str, Any], text: str) -> Kept:
    schema_type = value.get("schemaType") or AVRO
    if schema_type == AVRO and value.keys().isdisjoint(_BESIDES):
        return text
    if not isinstance(schema_type, str):
        raise Undecodable("schemaType is not a string")
    try:
        references = tuple(map(_reference, value.get("references") or ()))
        metadata = Metadata.from_json(value.get("metadata"))
        rule_set = RuleSet.from_json(value.get("ruleSet"))
    except (KeyError, TypeError, ValueError) as error:
        raise Undecodable(f"a SCHEMA value is malformed: {error!r}") from None
    return kept_form(Content(sys.intern(schema_type), text, references, metadata, rule_set))


#: The fields that a plain schema does not have.
_BESIDES = frozenset({"references", "metadata", "ruleSet"})


def _reference(value: dict[str, Any]) -> Reference:
    version = int(value["version"])
    if abs(version) > MAX_VERSION:
        raise Undecodable("a reference's version does not fit into 32 bits")
    return Reference(str(value["name"]), str(value["subject"]), version)


def _about(key: Key, rest: dict[str, Any]) -> bytes:
    return orjson.dumps(({} if key.subject is None else {"subject": key.subject}) | rest)


def encode_config(key: Key, config: Config) -> bytes:
    """The value of a CONFIG record."""
    return _about(key, config.to_json())


def encode_mode(key: Key, mode: str) -> bytes:
    """The value of a MODE record."""
    return _about(key, {"mode": mode})


def encode_context(context: str) -> bytes:
    """The value of a CONTEXT record."""
    return orjson.dumps({"tenant": "default", "context": context})


def encode_deletion(subject: str, highest_version: int) -> bytes:
    """The value of a DELETE_SUBJECT record: all versions up to this one are soft deleted."""
    return orjson.dumps({"subject": subject, "version": highest_version})


def encode_clearing(subject: str) -> bytes:
    """The value of a CLEAR_SUBJECT record."""
    return orjson.dumps({"subject": subject})


def encode_settled() -> bytes:
    """The value of a leader mark."""
    return b"{}"


def encode_posted(node: str, offset: int) -> bytes:
    """The value of a mark that a node has posted all changes up to an offset."""
    return orjson.dumps({"node": node, "offset": offset})


def encode_id_mark(context: str, highest_id: int) -> bytes:
    """The value of an id mark."""
    return orjson.dumps({"context": context, "maxId": highest_id})


def encode_rule(origin: RuleOrigin) -> bytes:
    """The value of an access rule's record."""
    return orjson.dumps({"by": origin.author, "at": origin.timestamp})


def decode_rule_origin(value: dict[str, Any]) -> RuleOrigin:
    """Decode the value of an access rule's record; another writer may omit fields."""
    author, time = value.get("by"), value.get("at")
    return RuleOrigin(author if isinstance(author, str) else "", time if type(time) is int else 0)


def encode_rule_set(*, is_open: bool) -> bytes:
    """The value of a mark around access rules that change together."""
    return orjson.dumps({"open": is_open})


def encode_mirror(context: str, mark: MirrorMark) -> bytes:
    """The value of a mirror's mark."""
    return orjson.dumps({"context": context, "epoch": mark.epoch, "value": mark.value})


def decode_mirror(value: Mapping[str, Any]) -> MirrorMark:
    """Decode the value of a mirror's mark.

    Raises:
        Undecodable: The epoch or the value is missing.
    """
    epoch, stored = value.get("epoch"), value.get("value")
    if not in_bounds(epoch) or not isinstance(stored, dict):
        raise Undecodable("a mirror's mark needs an epoch from 1 and an object `value`")
    return MirrorMark(epoch, stored)
