"""Records that fit the conditions of filters, and records that do not."""

from __future__ import annotations

import pytest

from magicbyte.ui.messages.filter_text import read_filter
from magicbyte.ui.messages.filtering import Candidate, Part, fits

VALUE = (
    b'{"id": 7, "big": 9223372036854775808, "price": "12.50", "ok": true, "none": null, "name": "\xc3\x89va",'
    b' "lines": [{"sku": "a1", "n": 1}, {"sku": "b2", "n": 2}], "tags": ["x", "y"], "at": "2026-01-02T00:00:00Z",'
    b' "map": {"a.b": {"c": 1.10}}}'
)
HEADERS = [("trace", b"Abc-1"), ("empty", None), ("bytes", b"\xff")]
RECORD = Candidate({"key": Part(b'"UA"', schema_id=3), "value": Part(VALUE, schema_id=9)}, HEADERS)
TOMBSTONE = Candidate({"key": Part(b"5"), "value": Part(None, is_null=True)}, [])
UNREADABLE = Candidate({"key": Part(None), "value": Part(None)}, [])
DEEP = Candidate({"key": Part(None, is_null=True), "value": Part(b"[" * 900 + b"1" + b"]" * 900)}, [])


@pytest.mark.parametrize(
    ("record", "text", "holds"),
    [
        (RECORD, "", True),
        (RECORD, "éva", True),
        (RECORD, "eva", False),
        (RECORD, "ua abc", True),
        (RECORD, "key:ua", True),
        (RECORD, "value:ua", False),
        (RECORD, "header:trace header:empty", True),
        (RECORD, "header:Trace", False),
        (RECORD, "header:trace=ABC", True),
        (RECORD, "header:empty=a", False),
        (RECORD, "id:3", True),
        (RECORD, "id:9", True),
        (RECORD, "id:4", False),
        (RECORD, "value.id = 7", True),
        (RECORD, "value.id = 7.0", True),
        (RECORD, 'value.id = "7"', True),
        (RECORD, "value.id != 7", False),
        (RECORD, "value.id > 6.5", True),
        (RECORD, "value.id > 7", False),
        (RECORD, "value.id >= 7", True),
        (RECORD, "value.id <= 6", False),
        (RECORD, "value.big = 9223372036854775808", True),
        (RECORD, "value.big = 9223372036854775807", False),
        (RECORD, "value.price = 12.5", True),
        (RECORD, 'value.price = "12.5"', False),
        (RECORD, "value.price < 100", True),
        (RECORD, "value.ok = true", True),
        (RECORD, "value.ok = false", False),
        (RECORD, "value.none = null", True),
        (RECORD, "value.none != null", False),
        (RECORD, "value.name ~ ÉV", True),
        (RECORD, "value.absent = 1", False),
        (RECORD, "value.absent != 1", False),
        (RECORD, "value.lines.sku = b2", True),
        (RECORD, "value.lines.0.sku = b2", False),
        (RECORD, "value.lines.1.n = 2", True),
        (RECORD, "value.lines.9.n = 2", False),
        (RECORD, "value.lines.sku != c3", True),
        (RECORD, "value.lines.sku != b2", False),
        (RECORD, "value.tags = y", True),
        (RECORD, "value.at >= 2026-01-01", True),
        (RECORD, "value.at < 2026-01-01", False),
        (RECORD, 'value.map."a.b".c = 1.1', True),
        (RECORD, "value.map ~ a.b", True),
        (RECORD, "key = UA", True),
        (RECORD, "key = ua", False),
        (TOMBSTONE, "value = null", True),
        (TOMBSTONE, "value.id = 7", False),
        (TOMBSTONE, "key = 5", True),
        (UNREADABLE, "value = null", False),
        (UNREADABLE, "null", False),
        (DEEP, "value.a = 1", False),
    ],
)
def test_fits(record: Candidate, text: str, *, holds: bool) -> None:
    assert fits(record, read_filter(text)) is holds
