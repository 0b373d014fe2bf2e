"""Each fault in a log of its own is found, and nothing else; a repair removes it and leaves the state as it was."""

from __future__ import annotations

import pytest

from magicbyte.operations.fsck.checks import CHECKS, remedy_of, run_checks, severity_of
from magicbyte.operations.fsck.evidence import gather
from magicbyte.operations.fsck.repairing import chosen_codes, plan_repairs
from magicbyte.operations.state import State
from registry.log.port import LogEntry
from registry.repair.finding import Severity, shown_bytes
from registry.repair.plan import REPAIRS
from tests.operations.fsck.planted import HEALTHY, PLANTED, Pair, PlantedSource, deletion, key, mark, spaced, value

#: What a repair writes to the logs of `PLANTED`, if its code is named.
REPAIRED: dict[str, tuple[Pair, ...]] = {
    "two values of a version": (mark(".", 1), (spaced("a", 1), None), (key("a", 1), value("a", 1, 1, deleted=True))),
    "a tombstone of one form leaves the other": (mark(".", 1), (key("a", 1), None)),
    "two global configs": (
        (b'{"keytype":"CONFIG","subject":null,"magic":0}', None),
        (b'{"keytype":"CONFIG","magic":0}', b'{"compatibilityLevel":"FULL"}'),
    ),
    "a tombstone with bytes of its own": (mark(".", 1), (spaced("a", 1), None)),
    "a value that is cut": ((key("a", 1), None),),
    "a key of no type": ((b"hello", None),),
    "a key of an unknown type": ((b'{"keytype":"LATER","magic":0}', None),),
    "an access rule that lacks its parts": ((b'{"keytype":"MAGICBYTE_ACL","magic":0}', None),),
    "a version beyond 32 bits": ((key("a", 2**31), None),),
    "a mark that says nothing": ((mark(".", 1)[0], b'{"context":".","maxId":0}'),),
    "a key with an offset and a node": (
        mark(".", 1),
        (b'{"keytype":"SCHEMA","subject":"a","version":1,"magic":1,"seq":0,"node":0}', None),
        (key("a", 1), value("a", 1, 1)),
    ),
    "the highest id was deleted without a mark": (mark(".", 2),),
    "a mark below a deleted id": (mark(".eu", 3),),
    "a mark that was lowered": (mark(".", 5),),
    "a version before a deletion that does not know it": ((key("a", 2), value("a", 2, 2, "long")),),
}


@pytest.mark.parametrize("name", PLANTED)
def test_fsck_finds_exactly_the_planted_fault(name: str) -> None:
    code, pairs = PLANTED[name]
    findings = run_checks(gather(PlantedSource(pairs)))
    assert [finding.code for finding in findings] == [code]
    assert findings[0].sentence
    assert remedy_of(findings[0])
    assert severity_of(findings[0]) is not Severity.NOTE


@pytest.mark.parametrize("name", HEALTHY)
def test_odd_but_healthy_records_are_no_finding(name: str) -> None:
    source = PlantedSource(HEALTHY[name])
    assert run_checks(gather(source)) == []
    source.compact()
    assert run_checks(gather(source)) == []


@pytest.mark.parametrize("name", PLANTED)
def test_a_repair_removes_the_fault_and_keeps_the_state(name: str) -> None:
    code, pairs = PLANTED[name]
    source = PlantedSource(pairs)
    evidence = gather(source)
    before, highest = source.read().state, evidence.view.highest_id(".")
    codes = chosen_codes([code] if CHECKS[code].repair else ())
    repairs = plan_repairs(evidence, run_checks(evidence), codes)
    written = [_normal(record.key, record.value) for record in repairs.log.records]
    assert written == [_normal(*pair) for pair in REPAIRED.get(name, ())]
    if not written:
        assert code not in REPAIRS or pairs[0][0] is None
        return
    source.append((record.key, record.value) for record in repairs.log.records)
    for state in (source.read().state, _compacted(source)):
        assert {key: _timeless(one) for key, one in state.versions.items()} == {
            key: _timeless(one) for key, one in before.versions.items()
        }
        assert (state.configs, state.modes) == (before.configs, before.modes)
        assert state.contexts["."].highest_id == highest
    assert run_checks(gather(source)) == []


def _compacted(source: PlantedSource) -> State:
    source.compact()
    return source.read().state


def _timeless(version: object) -> object:
    return repr(version).rpartition(", timestamp=")[0]


def _normal(raw: bytes | None, encoded: bytes | None) -> tuple[bytes | None, State | bytes | None]:
    """A record whose value is compared by its meaning: fields may stand in another order."""
    if raw is None or encoded is None or b"SCHEMA" not in raw:
        return raw, encoded
    return raw, State.of_entries([LogEntry(0, raw, encoded, 0)])


def test_a_fault_of_many_keys_is_repaired_in_steps() -> None:
    subjects = [f"s{number}" for number in range(2_600)]
    pairs = [pair for one in subjects for pair in ((spaced(one, 1), value(one, 1, 1)), (key(one, 1), value(one, 1, 1)))]
    source = PlantedSource(pairs)
    for expected in ((2_499, 101), (101, 0)):
        evidence = gather(source)
        repairs = plan_repairs(evidence, run_checks(evidence), chosen_codes(()))
        assert (len(repairs.log.steps), repairs.log.left) == expected
        source.append((record.key, record.value) for record in repairs.log.records)
    assert run_checks(gather(source)) == []


def test_a_version_of_a_contested_id_is_not_written_again() -> None:
    # The oldest record decides what the id stands for: written again, it would be the youngest.
    source = PlantedSource(
        (
            (spaced("a", 1), value("a", 1, 1)),
            (key("b", 1), value("b", 1, 1, "long")),
            (key("a", 1), value("a", 1, 1)),
        )
    )
    evidence = gather(source)
    findings = run_checks(evidence)
    assert [finding.code for finding in findings] == ["KEY_FORMS", "ID_TWO_CONTENTS"]
    assert plan_repairs(evidence, findings, chosen_codes(())).log.steps == ()


@pytest.mark.parametrize("codes", [("KEY_FORMS",), ("ORPHAN_TOMBSTONE",), ("KEY_FORMS", "ORPHAN_TOMBSTONE")])
def test_two_faults_of_a_key_have_one_repair(codes: tuple[str, ...]) -> None:
    old = b'{"magic":1,"keytype":"SCHEMA","subject":"a","version":1}'
    pairs = ((spaced("a", 1), value("a", 1, 1)), (old, value("a", 1, 1)), (key("a", 1), None))
    source = PlantedSource(pairs)
    evidence = gather(source)
    assert [finding.code for finding in run_checks(evidence)] == ["KEY_FORMS", "ORPHAN_TOMBSTONE"]
    repairs = plan_repairs(evidence, [], chosen_codes(codes))
    assert [(record.key, record.value) for record in repairs.log.records] == [
        mark(".", 1),
        (spaced("a", 1), None),
        (old, None),
    ]


def test_a_good_value_before_an_unreadable_one_is_written_again() -> None:
    source = PlantedSource(((key("a", 1), value("a", 1, 1)), (key("a", 1), b"{")))
    evidence = gather(source)
    repairs = plan_repairs(evidence, run_checks(evidence), chosen_codes(["UNREADABLE"]))
    source.append((record.key, record.value) for record in repairs.log.records)
    source.compact()
    assert [version.schema_id for version in source.read().state.versions.values()] == [1]


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (None, "(no key)"),
        (b"\x00\xff{}", "\\x00\\xff{}"),
        (b"a\nb\x1b[31m", "a\\nb\\x1b[31m"),
        (b"k" * 301, "k" * 300 + "... (301 bytes)"),
        (b"k" * 300, "k" * 300),
    ],
)
def test_bytes_of_keys_are_shown_safely(raw: bytes | None, shown: str) -> None:
    assert shown_bytes(raw) == shown


def test_a_version_with_two_faults_is_written_once_under_the_usual_key() -> None:
    source = PlantedSource(
        (
            (key("a", 1), value("a", 1, 1)),
            (key("a", 2), value("a", 2, 2, "long")),
            (spaced("a", 2), value("a", 2, 2, "long")),
            deletion("a", 1),
        )
    )
    evidence = gather(source)
    assert [finding.code for finding in run_checks(evidence)] == ["KEY_FORMS", "DELETED_LIVE"]
    repairs = plan_repairs(evidence, [], chosen_codes(()))
    assert [record.key for record in repairs.log.records] == [mark(".", 2)[0], spaced("a", 2), key("a", 2)]


@pytest.mark.parametrize(
    ("pairs", "sentences"),
    [
        # 9,999 superseded records of 10,000, and one more.
        (((key("a", 1), value("a", 1, 1)),) * 10_000, []),
        (
            ((key("a", 1), value("a", 1, 1)),) * 10_001,
            ["10,000 of 10,001 records are superseded or tombstones; SCHEMA a 1 alone was written 10,001 times"],
        ),
        # As many are 88.9 % of 11,250 records and 90.0 % of 11,111.
        (
            (
                *((key("a", 1), value("a", 1, 1)),) * 10_001,
                *((key("b", number), value("b", number, number + 1)) for number in range(1, 1_250)),
            ),
            [],
        ),
        (
            (
                *((key("a", 1), value("a", 1, 1)),) * 10_001,
                *((key("b", number), value("b", number, number + 1)) for number in range(1, 1_111)),
            ),
            ["10,000 of 11,111 records are superseded or tombstones; SCHEMA a 1 alone was written 10,001 times"],
        ),
        (tuple(deletion(f"gone-{number}", 1) for number in range(999)), []),
        (
            tuple(deletion(f"gone-{number}", 1) for number in range(1_000)),
            [
                "1,000 records DELETE_SUBJECT are of subjects that have no version any more; "
                "compaction keeps them for ever"
            ],
        ),
    ],
)
def test_fsck_reports_garbage_above_a_threshold(pairs: tuple[Pair, ...], sentences: list[str]) -> None:
    found = [one for one in run_checks(gather(PlantedSource(pairs))) if one.code == "GARBAGE"]
    assert [one.sentence for one in found] == sentences
    assert all(severity_of(one) is Severity.NOTE for one in found)
