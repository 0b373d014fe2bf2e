from __future__ import annotations

import pytest

from compat.contracts.model import Metadata, Rule, RuleSet
from compat.schema import Reference
from registry.state import records
from registry.state.model import Config, Content, Version
from registry.state.records import Key, Undecodable

KEYS = [
    (Key("SCHEMA", "s", 1), b'{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}'),
    (Key("CONFIG", "s"), b'{"keytype":"CONFIG","subject":"s","magic":0}'),
    (Key("CONFIG"), b'{"keytype":"CONFIG","magic":0}'),
    (Key("MODE", "s"), b'{"keytype":"MODE","subject":"s","magic":0}'),
    (Key("MODE"), b'{"keytype":"MODE","magic":0}'),
    (Key("CONTEXT", ".c"), b'{"keytype":"CONTEXT","tenant":"default","context":".c","magic":0}'),
    (Key("DELETE_SUBJECT", "s"), b'{"keytype":"DELETE_SUBJECT","subject":"s","magic":0}'),
    (Key("CLEAR_SUBJECT", "s"), b'{"keytype":"CLEAR_SUBJECT","subject":"s","magic":0}'),
    (Key("NOOP"), b'{"keytype":"NOOP","magic":0}'),
    (Key("MAGICBYTE_POSTED"), b'{"keytype":"MAGICBYTE_POSTED","magic":0}'),
    (Key("SCHEMA", "ü/\U0001f600", 2), '{"keytype":"SCHEMA","subject":"ü/\U0001f600","version":2,"magic":1}'.encode()),
]


@pytest.mark.parametrize(("key", "raw"), KEYS, ids=lambda value: str(value)[:40])
def test_a_key_has_these_bytes(key: Key, raw: bytes) -> None:
    assert records.encode_key(key) == raw
    assert records.decode_key(raw) == key


@pytest.mark.parametrize(
    ("raw", "key"),
    [
        (b'{"subject":"s","version":1,"magic":1,"keytype":"SCHEMA"}', Key("SCHEMA", "s", 1)),
        (b'{"magic":0,"keytype":"SCHEMA","version":3,"subject":"s"}', Key("SCHEMA", "s", 3)),
        (b'{"keytype":"CONFIG","subject":null,"magic":0}', Key("CONFIG")),
        (b'{"subject":null,"magic":0,"keytype":"MODE"}', Key("MODE")),
        (b' { "keytype" : "NOOP" , "magic" : 0 } ', Key("NOOP")),
    ],
)
def test_keys_of_old_servers_are_read(raw: bytes, key: Key) -> None:
    assert records.decode_key(raw) == key


@pytest.mark.parametrize(
    "raw",
    [
        None,
        b"",
        b"\xff",
        b"[]",
        b"{}",
        b'{"keytype":"ASSOC"}',
        b'{"keytype":["SCHEMA"]}',
        b'{"keytype":"SCHEMA","subject":"s","version":1,"magic":2}',
        b'{"keytype":"SCHEMA","subject":"s","version":"1","magic":1}',
        b'{"keytype":"SCHEMA","version":1,"magic":1}',
        b'{"keytype":"SCHEMA","subject":7,"version":1,"magic":1}',
        b'{"keytype":"DELETE_SUBJECT","magic":0}',
    ],
)
def test_other_keys_are_undecodable(raw: bytes | None) -> None:
    with pytest.raises(Undecodable):
        records.decode_key(raw)


CONTENT = Content("AVRO", '"string"')

VALUES = [
    (
        records.encode_version(Version("s", 1, 7, CONTENT, deleted=False, timestamp=0)),
        b'{"subject":"s","version":1,"id":7,"schemaType":"AVRO","schema":"\\"string\\"","deleted":false}',
    ),
    (
        records.encode_version(
            Version(
                "s",
                2,
                8,
                Content(
                    "JSON",
                    "{}",
                    (Reference("n", "r", 3),),
                    Metadata({"**.ssn": ("PII",)}, {"owner": "a"}, ("owner",)),
                    RuleSet(domain_rules=(Rule("r1", kind="CONDITION", mode="WRITE", type="CEL", expr="true"),)),
                ),
                deleted=True,
                timestamp=0,
            )
        ),
        b'{"subject":"s","version":2,"id":8,"schemaType":"JSON",'
        b'"references":[{"name":"n","subject":"r","version":3}],'
        b'"metadata":{"tags":{"**.ssn":["PII"]},"properties":{"owner":"a"},"sensitive":["owner"]},'
        b'"ruleSet":{"domainRules":[{"name":"r1","kind":"CONDITION","mode":"WRITE","type":"CEL","expr":"true",'
        b'"disabled":false}]},"schema":"{}","deleted":true}',
    ),
    (
        records.encode_config(Key("CONFIG", "s"), Config(normalize=False, compatibility_level="FULL")),
        b'{"subject":"s","normalize":false,"compatibilityLevel":"FULL"}',
    ),
    (
        records.encode_config(Key("CONFIG"), Config(compatibility_level="NONE")),
        b'{"compatibilityLevel":"NONE"}',
    ),
    (records.encode_mode(Key("MODE", "s"), "READONLY"), b'{"subject":"s","mode":"READONLY"}'),
    (records.encode_context(".c"), b'{"tenant":"default","context":".c"}'),
    (records.encode_deletion("s", 4), b'{"subject":"s","version":4}'),
    (records.encode_clearing("s"), b'{"subject":"s"}'),
]


@pytest.mark.parametrize(("value", "expected"), VALUES, ids=lambda value: value[:40].decode())
def test_a_value_has_these_bytes(value: bytes, expected: bytes) -> None:
    assert value == expected


@pytest.mark.parametrize("value", [value for value, _ in VALUES[:2]], ids=["plain", "full"])
def test_a_version_is_read_as_it_was_written(value: bytes) -> None:
    parsed = records.decode_value(value)
    version = records.decode_version(Key("SCHEMA", parsed["subject"], parsed["version"]), parsed, 99)
    assert records.encode_version(version) == value
    assert version.timestamp == 99


def test_a_version_of_an_old_server_is_avro_and_live() -> None:
    value = {"subject": "s", "version": 1, "id": 7, "schema": '"string"'}
    assert records.decode_version(Key("SCHEMA", "s", 1), value, 0) == Version("s", 1, 7, CONTENT.text, False, 0)
