from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from registry.log.port import LogEntry
from registry.state.lookup import named
from registry.state.model import Config, Posted
from registry.state.records import Key
from registry.state.view import RECENT_ENTRIES, View


def view_of(*records: tuple[dict[str, Any] | bytes | None, dict[str, Any] | bytes | None]) -> View:
    view = View()
    for offset, (key, value) in enumerate(records):
        view.apply(LogEntry(offset, _bytes(key), _bytes(value), 1000 + offset))
    return view


def _bytes(value: dict[str, Any] | bytes | None) -> bytes | None:
    return value if value is None or isinstance(value, bytes) else json.dumps(value).encode()


def schema_key(subject: str, version: int) -> dict[str, Any]:
    return {"keytype": "SCHEMA", "subject": subject, "version": version, "magic": 1}


def schema(subject: str, version: int, schema_id: int, text: str, **more: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    value = {"subject": subject, "version": version, "id": schema_id, "schema": text, "deleted": False, **more}
    return schema_key(subject, version), value


def state(view: View) -> list[tuple[str, int, int, str, bool]]:
    return [
        (version.subject, version.number, version.schema_id, version.content.text, version.deleted)
        for subject in sorted(view.subjects())
        for version in view.versions(subject)
    ]


def test_the_view_finds_versions_by_subject_number_and_id() -> None:
    view = view_of(schema("a", 1, 1, "x"), schema("a", 2, 2, "y"), schema("b", 1, 1, "x"))
    assert state(view) == [("a", 1, 1, "x", False), ("a", 2, 2, "y", False), ("b", 1, 1, "x", False)]
    assert [version.number for version in view.live_versions("a")] == [1, 2]
    assert [(version.subject, version.number) for version in view.with_id(".", 1)] == [("a", 1), ("b", 1)]
    assert view.highest_id(".") == 2
    assert view.offset == 2


def test_versions_with_the_same_text_share_the_text() -> None:
    tagged = {"metadata": {"properties": {"owner": "me"}}}
    view = view_of(
        schema("a", 1, 1, "x" * 100),
        schema("b", 1, 1, "x" * 100),
        schema("b", 2, 2, "x" * 100, **tagged),
        schema(":.c:a", 1, 1, "x" * 100),
        schema("j", 1, 3, "x" * 100, schemaType="JSON"),
    )
    first, second = view.with_id(".", 1)
    others = [*view.with_id(".", 2), *view.with_id(".c", 1), *view.with_id(".", 3)]
    assert first.text is second.text
    assert all(other.text is first.text for other in others)
    assert [view.id_of(".", version.content) for version in (first, others[0], others[2])] == [1, 2, 3]
    assert view.id_of(".c", first.content) == 1
    assert view.id_of(".c", others[0].content) is None


def test_look_up_by_content_returns_the_newest_id_that_a_version_has() -> None:
    view = view_of(schema("a", 1, 7, "x"), schema("a", 2, 9, "x"))
    content = view.with_id(".", 7)[0].content
    assert view.id_of(".", content) == 9
    view.apply(LogEntry(2, _bytes(schema_key("a", 2)), None, 0))
    assert view.id_of(".", content) == 7
    view.apply(LogEntry(3, _bytes(schema_key("a", 1)), None, 0))
    assert view.id_of(".", content) is None


def test_the_view_finds_versions_by_digest_with_and_without_the_index() -> None:
    view = view_of(schema("a", 1, 1, "x"), schema(":.c:a", 1, 5, "x"), schema("b", 1, 2, "y"))
    x, y = hashlib.md5(b"x").digest(), hashlib.md5(b"y").digest()
    assert [version.subject for version in view.with_digest(".", x)] == ["a"]
    assert [version.schema_id for version in view.with_digest(".c", x)] == [5]
    assert view.with_digest(".c", y) == ()
    view.apply(LogEntry(3, *map(_bytes, schema(":.c:b", 1, 6, "y")), 0))
    assert [version.schema_id for version in view.with_digest(".c", y)] == [6]
    view.apply(LogEntry(4, _bytes(schema_key("b", 1)), None, 0))
    assert view.with_digest(".", y) == ()
    view.become(view_of(schema("z", 1, 9, "y")), 5)
    assert [version.subject for version in view.with_digest(".", y)] == ["z"]
    assert view.with_digest(".", x) == ()


def test_the_view_finds_ids_that_are_far_apart() -> None:
    ids = [1, 63, 64, 2**31 - 1, 2]
    view = view_of(*(schema("a", number, each, str(each)) for number, each in enumerate(ids, 1)))
    assert [view.with_id(".", schema_id)[0].number for schema_id in ids] == [1, 2, 3, 4, 5]
    assert [view.with_id(".", schema_id) for schema_id in (0, 65, 2**31)] == [(), (), ()]
    assert sorted(view.tables.ids) == [1, 2, 63, 64, 2**31 - 1]
    assert (2 in view.tables.ids, 0 in view.tables.ids) == (True, False)


def test_a_tombstone_removes_the_version_and_an_id_that_nobody_carries() -> None:
    view = view_of(schema("a", 1, 1, "x"), schema("a", 2, 2, "y"), (schema_key("a", 2), None))
    assert state(view) == [("a", 1, 1, "x", False)]
    assert view.with_id(".", 2) == ()
    assert view.highest_id(".") == 2


def test_delete_subject_marks_the_versions_up_to_its_number() -> None:
    key = {"keytype": "DELETE_SUBJECT", "subject": "a", "magic": 0}
    view = view_of(
        schema("a", 1, 1, "x"),
        schema("a", 2, 2, "y"),
        (key, {"subject": "a", "version": 1}),
    )
    assert [(version.number, version.deleted) for version in view.versions("a")] == [(1, True), (2, False)]
    assert view.with_id(".", 1)[0].deleted is True


def by_id(view: View) -> tuple[list[tuple[str, int]], str | None]:
    content = view.content_with_id(".", 1)
    return [(version.subject, version.number) for version in view.with_id(".", 1)], content and content.text


def test_an_id_that_two_contents_claim_stands_for_the_oldest_record() -> None:
    view = view_of(schema("a", 1, 1, "x"), schema("b", 1, 1, "other"), schema("c", 1, 1, "x"))
    assert state(view) == [("a", 1, 1, "x", False), ("b", 1, 1, "other", False), ("c", 1, 1, "x", False)]
    assert by_id(view) == ([("a", 1), ("c", 1)], "x")
    other = view.version("b", 1)
    assert other is not None
    assert (view.id_of(".", other.content), view.next_number("b")) == (None, 2)
    assert view.with_digest(".", hashlib.md5(b"other").digest()) == ()
    assert view.passed_over == {"id conflict": 1}


def test_a_claim_comes_into_force_when_the_older_record_is_removed() -> None:
    view = view_of(schema("a", 1, 1, "x"), schema("b", 1, 1, "other"))
    view.index_digests()
    view.apply(LogEntry(2, _bytes(schema_key("a", 1)), None, 0))
    assert by_id(view) == ([("b", 1)], "other")
    assert [version.subject for version in view.with_digest(".", hashlib.md5(b"other").digest())] == ["b"]
    other = view.version("b", 1)
    assert other is not None
    assert view.id_of(".", other.content) == 1


CLAIMS = [
    schema("a", 1, 1, "x"),
    schema("b", 1, 1, "other"),
    schema("a", 1, 1, "x", deleted=True),
    schema("c", 1, 1, "third"),
    (schema_key("b", 1), None),
    schema("b", 1, 1, "other"),
]


@pytest.mark.parametrize("count", range(1, len(CLAIMS) + 1))
def test_a_claimed_id_means_the_same_to_readers_before_and_after_compaction(count: int) -> None:
    live = view_of(*CLAIMS[:count])
    last = {json.dumps(key): number for number, (key, _) in enumerate(CLAIMS[:count])}
    compacted = View()
    for offset in sorted(last.values()):
        key, value = CLAIMS[offset]
        compacted.apply(LogEntry(offset, _bytes(key), _bytes(value), 1000 + offset))
    assert by_id(compacted) == by_id(live)
    assert state(compacted) == state(live)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (None, None),
        (b"\xff\xfe", b"{}"),
        (b"{", b"{}"),
        ({"keytype": "FUTURE", "subject": "s"}, {"x": 1}),
        (schema_key("s", 1), b"not json"),
        (schema_key("s", 1), b"[]"),
        (schema_key("s", 1), {"id": 1}),
        (schema_key("s", 1), {"id": "1", "schema": "x"}),
        (schema_key("s", 1), {"id": 1, "schema": "x", "references": [{"name": "n"}]}),
        (schema_key("s", 1), {"id": 1, "schema": "x", "metadata": []}),
        (schema_key("s", 1), {"id": 1, "schema": "x", "schemaType": 5}),
        (schema_key("s", 1), {"id": 1, "schema": "x", "references": [{"name": "n", "subject": "r", "version": 2**31}]}),
        ({"keytype": "MODE", "subject": "s", "magic": 0}, {"mode": []}),
        ({"keytype": "CONFIG", "subject": "s", "magic": 0}, {"defaultMetadata": 7}),
        ({"keytype": "MODE", "subject": "s", "magic": 0}, {"mode": "SLEEP"}),
        ({"keytype": "DELETE_SUBJECT", "subject": "s", "magic": 0}, {"version": None}),
    ],
)
def test_undecodable_records_are_counted_and_skipped(key: Any, value: Any) -> None:
    view = view_of((key, value), schema("a", 1, 1, "x"))
    assert view.passed_over == {"undecodable": 1}
    assert state(view) == [("a", 1, 1, "x", False)]
    assert view.offset == 1


def test_raw_keys_of_other_writers_are_repeated() -> None:
    legacy = b'{"subject":"a","version":1,"magic":1,"keytype":"SCHEMA"}'
    view = view_of((legacy, schema("a", 1, 1, "x")[1]))
    assert view.key_bytes(Key("SCHEMA", "a", 1)) == legacy
    both = (b'{"keytype":"SCHEMA","subject":"a","version":1,"magic":1}', legacy)
    assert view.key_forms(Key("SCHEMA", "a", 1)) == both
    assert view.key_bytes(Key("SCHEMA", "a", 2)) == b'{"keytype":"SCHEMA","subject":"a","version":2,"magic":1}'


def test_the_view_keeps_the_bytes_of_a_key_with_another_magic_number() -> None:
    raw = b'{"keytype":"SCHEMA","subject":"a","version":1,"magic":0}'
    assert view_of((raw, schema("a", 1, 1, "x")[1])).key_bytes(Key("SCHEMA", "a", 1)) == raw


def test_ids_count_by_context() -> None:
    view = view_of(schema("a", 1, 5, "x"), schema(":.c:a", 1, 1, "y"))
    assert (view.highest_id("."), view.highest_id(".c")) == (5, 1)
    assert view.content_with_id(".c", 1) != view.content_with_id(".", 1)


def test_an_id_mark_keeps_the_highest_id_of_a_context() -> None:
    view = view_of(({"keytype": "MAGICBYTE_ID_MARK", "context": ".", "magic": 0}, {"context": ".", "maxId": 9}))
    assert view.highest_id(".") == 9


def test_configs_and_modes_come_and_go() -> None:
    config, mode = {"keytype": "CONFIG", "subject": "s", "magic": 0}, {"keytype": "MODE", "magic": 0}
    view = view_of((config, {"compatibilityLevel": "FULL"}), (mode, {"mode": "READONLY"}))
    assert (view.config("s"), view.mode(None)) == (Config(compatibility_level="FULL"), "READONLY")
    view.apply(LogEntry(2, json.dumps(config).encode(), None, 0))
    view.apply(LogEntry(3, json.dumps(mode).encode(), None, 0))
    assert (view.config("s"), view.mode(None)) == (None, None)


def test_referrers_are_found_until_they_are_gone() -> None:
    reference = [{"name": "n", "subject": "base", "version": 1}]
    view = view_of(schema("base", 1, 1, "b"), schema("a", 1, 2, "x", references=reference))
    assert [(referrer.subject, referrer.number) for referrer in view.referrers("base", 1)] == [("a", 1)]
    view.apply(LogEntry(2, _bytes(schema_key("a", 1)), None, 0))
    assert view.referrers("base", 1) == []


def test_a_reference_from_a_context_means_that_contexts_subject() -> None:
    reference = [{"name": "n", "subject": "common", "version": 1}]
    view = view_of(
        schema("common", 1, 1, "x"),
        schema(":.c:common", 1, 1, "y"),
        schema(":.c:user", 1, 2, "z", references=reference),
    )
    assert [referrer.subject for referrer in view.referrers(":.c:common", 1)] == [":.c:user"]
    assert view.referrers("common", 1) == []


def test_contents_of_one_identity_share_an_id_and_a_text() -> None:
    bare = {"domainRules": [{"name": "r", "mode": "WRITE", "type": "CEL", "kind": "CONDITION"}]}
    empty = {"domainRules": [{**bare["domainRules"][0], "doc": ""}]}
    view = view_of(schema("a", 1, 1, "x" * 50, ruleSet=bare), schema("b", 1, 1, "x" * 50, ruleSet=empty))
    first, second = view.with_id(".", 1)
    assert view.passed_over == {}
    assert first.content != second.content
    assert first.content.text is second.content.text


def test_an_overlay_leaves_its_base_as_it_is() -> None:
    base = view_of(schema("a", 1, 1, "x"), schema("a", 2, 2, "y"))
    overlay = View(base)
    key, value = schema("a", 3, 3, "z")
    overlay.apply(LogEntry(2, _bytes(key), _bytes(value), 0))
    overlay.apply(LogEntry(3, _bytes(schema_key("a", 1)), None, 0))
    assert [version.number for version in overlay.versions("a")] == [2, 3]
    assert overlay.with_id(".", 1) == ()
    assert (overlay.highest_id("."), base.highest_id(".")) == (3, 2)
    assert [version.number for version in base.versions("a")] == [1, 2]
    assert [version.number for version in base.with_id(".", 1)] == [1]


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("", ["a", "ab"]),
        ("ab", ["ab"]),
        (":.c:", [":.c:a"]),
        (":.c:a", [":.c:a"]),
        (":*:", [":.c:a", "a", "ab"]),
        (":*:ab", ["ab"]),
        ("b", []),
    ],
)
def test_a_prefix_names_subjects_of_one_context_or_all(prefix: str, expected: list[str]) -> None:
    assert named(["ab", ":.c:a", "a"], prefix) == expected


def test_the_webhook_position_of_another_log_is_not_behind_its_mark() -> None:
    view = View()
    # In a compacted copy of the log, the mark has a smaller offset than the changes that it counted.
    view.apply(LogEntry(2, b'{"keytype":"MAGICBYTE_POSTED","magic":0}', b'{"node":"a","offset":3}', 0))
    assert view.posted == Posted("a", 2, at=2)


def test_the_webhook_position_is_the_last_readable_one() -> None:
    key = {"keytype": "MAGICBYTE_POSTED", "magic": 0}
    view = View()
    view.apply(LogEntry(4, _bytes(key), b'{"node":"a","offset":3}', 0))
    assert view.posted == Posted("a", 3, at=4)
    view.apply(LogEntry(5, _bytes(key), b'{"node":"a","offset":"x"}', 0))
    for offset in range(6, 6 + RECENT_ENTRIES):
        view.apply(LogEntry(offset, b'{"keytype":"NOOP","magic":0}', b"{}", 0))
    assert view.posted == View(view).posted == Posted("a", 3, at=4)
    view.apply(LogEntry(9999, _bytes(key), None, 0))
    assert view.posted is None
    assert view.passed_over == {"undecodable": 1}


def test_an_overlay_of_a_state_that_was_replaced_is_not_adopted() -> None:
    view = view_of(schema("a", 1, 1, "x"))
    overlay = View(view)
    key, value = schema("a", 2, 2, "y")
    overlay.apply(LogEntry(1, _bytes(key), _bytes(value), 0))
    view.become(view_of(schema("b", 1, 1, "x")), 0)
    view.adopt(overlay, 1)
    assert (state(view), view.offset) == ([("b", 1, 1, "x", False)], 0)


class Watched(View):
    """A view that remembers in which order its attributes were set."""

    changes: list[str]

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__.setdefault("changes", []).append(name)
        super().__setattr__(name, value)


ACL = {
    "keytype": "MAGICBYTE_ACL",
    "principal": "User:a",
    "host": "*",
    "resource_type": "SUBJECT",
    "resource": "s",
    "pattern_type": "LITERAL",
    "operation": "READ",
    "permission": "ALLOW",
    "magic": 0,
}


@pytest.mark.parametrize(("left", "rules_offset"), [([], 9), ([(ACL, {"by": "User:x", "at": 5})], 0)])
def test_rules_that_are_gone_without_a_tombstone_have_changed(left: list[Any], rules_offset: int) -> None:
    view = Watched()
    view.apply(LogEntry(0, _bytes(ACL), b'{"by":"User:x","at":5}', 1000))
    assert len(view.rules()) == 1
    view.changes.clear()
    view.become(view_of(*left), 9)
    assert (len(view.rules()), view.rules_offset) == (len(left), rules_offset)
    # Other threads load the rules when their offset has changed, and trust what they know while the view's has not.
    assert view.changes[-3:] == ["tables", "rules_offset", "offset"]
