"""Files of other tools are recognized by content, read to equal states, and refused if they tell that they are cut."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from magicbyte.cli.main import main
from magicbyte.operations.failures import Unreadable
from magicbyte.operations.sources.files.console_dump import ConsoleDump
from magicbyte.operations.sources.files.forms import open_recognized
from magicbyte.operations.sources.files.karapace.v1 import KarapaceV1
from magicbyte.operations.sources.files.karapace.v2 import KarapaceV2
from magicbyte.operations.sources.files.karapace.v3 import KarapaceV3
from magicbyte.operations.sources.files.karapace.xxh64 import Xxh64
from magicbyte.operations.sources.files.record_file import RecordFile
from magicbyte.operations.sources.files.rpk_records import RpkRecords
from magicbyte.operations.sources.files.schema_list import SchemaList
from magicbyte.operations.sources.opening import Properties, open_source
from magicbyte.operations.sources.port import RawRecord, RawSource
from magicbyte.operations.state import ContextState, State
from tests.operations.made_log import record_of
from tests.operations.sources.foreign_files import (
    DATA,
    console,
    karapace_v1,
    karapace_v2,
    karapace_v3,
    rpk,
    rpk_lines,
)

Write = Callable[[Path, Sequence[RawRecord]], Path]

_SEPARATED = "a|b:c, {d}\\\u2028é"
_LINES: list[dict[str, Any]] = [
    {"kind": "schema", "subject": _SEPARATED, "version": 1, "id": 1, "schema": '"int"'},
    {"kind": "schema", "subject": "b", "version": 1, "id": 2, "schema": '{"type":"enum","name":"E","symbols":["|"]}'},
    {"kind": "schema", "subject": "b", "version": 2, "id": 3, "schema": '"long"', "deleted": True},
    {"kind": "config", "subject": "b", "config": {"compatibilityLevel": "NONE"}},
    {"kind": "config", "config": {"compatibilityLevel": "FULL"}},
    {"kind": "mode", "mode": "READONLY"},
]
#: The last two: a tombstone, and a key that only other servers know.
_PAIRS = [
    *map(record_of, _LINES),
    (record_of(_LINES[1])[0], None),
    (b'{"keytype":"OTHER","magic":0}', b"{}"),
]
RECORDS = [RawRecord(2 * number, 1000 + number, key, value) for number, (key, value) in enumerate(_PAIRS)]
NUMBERED = [RawRecord(number, 0, key, value) for number, (key, value) in enumerate(_PAIRS)]

_FORMS: dict[str, tuple[Write, type[RecordFile], list[RawRecord]]] = {
    "Karapace V1": (karapace_v1, KarapaceV1, NUMBERED),
    "Karapace V2": (karapace_v2, KarapaceV2, NUMBERED),
    "Karapace V3": (karapace_v3, KarapaceV3, RECORDS),
    "console, tab": (console("\t"), ConsoleDump, NUMBERED),
    "console, |": (console("|"), ConsoleDump, NUMBERED),
    "console, :": (console(":"), ConsoleDump, NUMBERED),
    "console, two characters": (console(" = "), ConsoleDump, NUMBERED),
    "console, with offsets": (console("\t", full=True), ConsoleDump, RECORDS),
    "console, with offsets and :": (console(":", full=True), ConsoleDump, RECORDS),
    "rpk": (rpk, RpkRecords, RECORDS),
    "rpk, a line each": (rpk_lines, RpkRecords, RECORDS),
}


@pytest.mark.parametrize("form", _FORMS)
def test_each_form_is_recognized_and_read_to_the_same_records_and_state(form: str, tmp_path: Path) -> None:
    write, kind, records = _FORMS[form]
    with open_recognized(write(tmp_path / "file.txt", RECORDS)) as source:
        assert type(source) is kind
        assert isinstance(source, RawSource)
        assert list(source.records()) == records
        reading = source.read()
    assert reading.state == State.of_entries(record.entry for record in records)
    assert list(reading.state.versions) == [(_SEPARATED, 1), ("b", 2)]
    assert reading.state.passed_over == {"undecodable": 1}
    assert reading.origin.offset == records[-1].offset
    assert reading.notes, "each form lacks something"


@pytest.mark.parametrize("form", _FORMS)
def test_a_raw_backup_of_each_form_keeps_its_records_and_notes(form: str, tmp_path: Path) -> None:
    write, _, records = _FORMS[form]
    path = write(tmp_path / "file.txt", RECORDS)
    assert main(["backup", str(path), "--format", "raw", "-o", str(tmp_path / "raw.ndjson")]) == 0
    with open_recognized(path) as source, open_recognized(tmp_path / "raw.ndjson") as copy:
        assert isinstance(source, RawSource)
        assert isinstance(copy, RawSource)
        assert list(copy.records()) == records
        assert copy.topic_configs() == source.topic_configs()
        assert copy.read().state == source.read().state
        assert (copy.read().notes, copy.notes()) == (source.read().notes, source.notes())
        assert copy.notes()
        assert (copy.origin().vendor, copy.origin().version) == (source.origin().vendor, source.origin().version)
    again = tmp_path / "again.ndjson"
    assert main(["backup", str(tmp_path / "raw.ndjson"), "--format", "raw", "-o", str(again)]) == 0
    with open_recognized(again) as third, open_recognized(path) as source:
        assert third.read().notes == source.read().notes


def test_the_backup_of_version_3_has_the_settings_of_its_topic_and_headers(tmp_path: Path) -> None:
    records = [RawRecord(7, 5, b"{}", None, (("h", b"\x00"), ("i", b"")))]
    source = KarapaceV3(karapace_v3(tmp_path / "backup", records))
    assert list(source.records()) == records
    assert source.topic_configs() == {"cleanup.policy": "compact", "partitions": "1", "replication.factor": "3"}
    origin = source.read().origin
    assert (origin.vendor, origin.version, origin.offset) == ("karapace", "4.1.0", 7)
    by_metadata = open_recognized(tmp_path / "backup" / "_schemas.metadata")
    assert isinstance(by_metadata, KarapaceV3)
    assert list(by_metadata.records()) == records
    assert list(KarapaceV3(karapace_v3(tmp_path / "empty", [])).records()) == []


def test_the_checksum_is_xxh64() -> None:
    for data, digest in (
        (b"", "ef46db3751d8e999"),
        (b"a", "d24ec4f1a98c6e5b"),
        (b"abc", "44bc2cf5ad770999"),
        (bytes(range(31)), "c346d2b59b4d8ee1"),
        (bytes(range(32)), "cbf59c5116ff32b4"),
        (bytes(range(100)), "6ac1e58032166597"),
    ):
        for step in (1, 7, 32, 100):
            checksum = Xxh64()
            for at in range(0, len(data), step):
                checksum.update(data[at : at + step])
            assert checksum.digest().hex() == digest


_NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"), max_size=8)


@given(st.lists(st.tuples(_NAMES, st.none() | _NAMES), min_size=1, max_size=4), st.sampled_from(list(_FORMS)))
def test_the_reader_reads_every_written_form(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str | None]], form: str
) -> None:
    write, kind, _ = _FORMS[form]
    records = [
        RawRecord(
            number,
            0,
            json.dumps({"keytype": "SCHEMA", "subject": subject}, ensure_ascii=False).encode(),
            None if value is None else json.dumps({"schema": value}, ensure_ascii=False).encode(),
        )
        for number, (subject, value) in enumerate(pairs)
    ]
    path = write(tmp_path_factory.mktemp("form") / "file", records)
    source = open_recognized(path)
    assert type(source) is kind
    assert isinstance(source, RawSource)
    assert list(source.records()) == records


def _cuts(form: str, data: bytes) -> set[int]:
    """The sizes at which a form cannot tell a cut: between lines or objects, and after an array."""
    if form == "Karapace V1":
        return set()
    if form.startswith("rpk"):
        ends = {0}
        decoder, text, at = json.JSONDecoder(), data.decode(), 0
        while text[at:].strip():
            _, end = decoder.raw_decode(text, at)
            after = end + (text[end : end + 1] == "\n")
            ends |= {len(text[:end].encode()), len(text[:after].encode())}
            at = after
        return ends
    return {0, *(at + 1 for at, byte in enumerate(data) if byte == 0x0A)}


@pytest.mark.parametrize("form", [form for form in _FORMS if form != "Karapace V3"])
def test_a_cut_is_refused_wherever_the_form_can_tell(form: str, tmp_path: Path) -> None:
    write, kind, _ = _FORMS[form]
    path = write(tmp_path / "file", RECORDS[:3])
    data = path.read_bytes()
    told = _cuts(form, data)
    for size in range(len(data)):
        path.write_bytes(data[:size])
        if size in told:
            continue
        with pytest.raises(Unreadable, match="is not whole, and nothing of it is used"):
            kind(path).read()


def test_the_backup_of_version_3_is_refused_after_any_change_of_its_records(tmp_path: Path) -> None:
    path = karapace_v3(tmp_path / "backup", RECORDS[:3])
    data = (path / DATA).read_bytes()
    changed = [data[:size] for size in range(len(data))] + [data + b"\0"]
    changed += [data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :] for at in range(len(data))]
    for content in changed:
        (path / DATA).write_bytes(content)
        with pytest.raises(Unreadable, match="is not whole, and nothing of it is used"):
            list(islice(KarapaceV3(path).records(), 1))
    metadata = path / "_schemas.metadata"
    whole = metadata.read_bytes()
    (path / DATA).write_bytes(data)
    for size in range(4, len(whole)):
        metadata.write_bytes(whole[:size])
        with pytest.raises(Unreadable):
            KarapaceV3(path).read()


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"version": 4}, "is not of version 3"),
        ({"partition_count": 2}, "has several partitions"),
        ({"checksum_algorithm": "unknown"}, "an unknown kind of checksum"),
        ({"record_count": 9}, "do not fit each other"),
        ({"data_file": {"filename": "../_schemas:0.data"}}, "names a file of records elsewhere"),
        ({"data_file": {"filename": "/etc/passwd"}}, "names a file of records elsewhere"),
        ({"data_file": {"filename": "gone.data"}}, "gone.data is missing"),
        ({"data_file": {"checksum": b"12345678"}}, "does not have its checksum"),
        ({"data_file": {"start_offset": 1}}, "record 0 of _schemas:0.data has offset 0"),
        ({"data_file": {"end_offset": 99}}, "is 14, and should be 99"),
        ({"data_file": {"record_count": 7}, "record_count": 7}, "has more than its 7 records"),
        ({"data_file": {"record_count": 9}, "record_count": 9}, "has 8 records, and should have 9"),
    ],
)
def test_metadata_that_does_not_fit_the_records_is_refused(changed: dict[str, Any], told: str, tmp_path: Path) -> None:
    path = karapace_v3(tmp_path / "backup", RECORDS, **changed)
    with pytest.raises(Unreadable, match=told):
        KarapaceV3(path).read()


def test_the_next_checkpoint_reveals_a_changed_record(tmp_path: Path) -> None:
    path = karapace_v3(tmp_path / "backup", RECORDS)
    data = (path / DATA).read_bytes()
    (path / DATA).write_bytes(data.replace(b"long", b"lOng", 1))
    with pytest.raises(Unreadable, match=r"records 2 to 4 of _schemas:0\.data do not have their checksum"):
        KarapaceV3(path).read()
    karapace_v3(tmp_path / "second", RECORDS)
    (tmp_path / "second" / "_schemas.metadata").rename(path / "other.metadata")
    with pytest.raises(Unreadable, match=r"has _schemas\.metadata, other\.metadata: name the file of metadata"):
        KarapaceV3(path)


@pytest.mark.parametrize(
    ("kind", "content", "told"),
    [
        (KarapaceV1, '[["a"]]', "item 0 is no pair"),
        (KarapaceV1, '[["a",1]]', "item 0 has a key or a value that is no text"),
        (KarapaceV1, '[["a","b"] ["c","d"]]', "',' was expected at character 11"),
        (KarapaceV1, '[["a","b"]] x', "something follows the array at character 12"),
        (KarapaceV1, '[["a","\\ud800"]]', "half of a surrogate pair"),
        (KarapaceV1, "[" * 100_000, "is no JSON"),
        (KarapaceV1, '[[NaN,"a"]]', "NaN is not JSON"),
        (KarapaceV2, "/V3\n", "line 1 is not /V2"),
        (KarapaceV2, "/V2\n7B7D 7B7D\n", "line 2 has no tab"),
        (KarapaceV2, "/V2\n7B7\tnull\n", "line 2 is no Base16"),
        (KarapaceV2, "/V2\n7B7G\tnull\n", "line 2 is no Base16"),
        (ConsoleDump, '{"a":1}|{}\n', "line 1 does not begin with the JSON key of a registry"),
        (ConsoleDump, '{"keytype":"NOOP"}\n', "line 1 has no value behind its key"),
        (ConsoleDump, '{"keytype":"NOOP"}|{}\n{"keytype":"NOOP"}\t{}\n', "line 2 lacks the separator '|'"),
        (ConsoleDump, '{"keytype":"NOOP"}|{}\nx|{}\n', "line 2 has no JSON key"),
        (ConsoleDump, 'Offset:1|{"keytype":"NOOP"}|{}\n{"keytype":"NOOP"}|{}\n', "line 2 lacks a part"),
        (ConsoleDump, 'Partition:1|{"keytype":"NOOP"}|{}\n', "line 1 is of another partition"),
        (ConsoleDump, 2 * 'Offset:1|{"keytype":"NOOP"}|{}\n', "offset 1, which comes after 1"),
        (ConsoleDump, '{"keytype":"NOOP"}|{}\nProcessed a total of 2 messages\n', "counts 2 messages"),
        (ConsoleDump, 'Processed a total of 0 messages\n{"keytype":"NOOP"}|{}\n', "follows the count"),
        (RpkRecords, '{"topic":"t","offset":1}', "record 0 is no object with offset, partition, topic"),
        (RpkRecords, '{"topic":"t","offset":-1,"partition":0}', "record 0 has an offset"),
        (RpkRecords, '{"topic":"t","offset":1,"partition":1}', "record 0 is of another topic or partition"),
        (RpkRecords, '{"topic":"t","offset":1,"partition":0,"value_size":3}', "printed with --meta-only"),
        (RpkRecords, '{"topic":"t","offset":1,"partition":0,"key":3}', "a header that is no text"),
        (RpkRecords, '{"topic":"t","offset":1,"partition":0}' * 2, "record 1 has offset 1, which comes after 1"),
        (SchemaList, '{"schemas":[', "it is cut or no JSON"),
        (SchemaList, '{"schemas":[1]}', "item 1 is no object"),
        (SchemaList, '{"schemas":[{"subject":"a","version":1,"schema":"x"}]}', "item 1 is no schema"),
        (SchemaList, '{"schemas":{}}', "it has no list of schemas"),
    ],
)  # fmt: skip
def test_the_error_names_the_fault_and_its_place(
    kind: Callable[[Path], Any], content: str, told: str, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_text(content)
    with pytest.raises(Unreadable, match=told) as raised:
        kind(path).read()
    assert str(path) in str(raised.value)


def test_redpanda_s_void_records_do_not_count(tmp_path: Path) -> None:
    def key(version: int, sequence: int) -> bytes:
        return json.dumps(
            {"keytype": "SCHEMA", "magic": 1, "seq": sequence, "node": 0, "subject": "a", "version": version}
        ).encode()

    def value(schema_id: int) -> bytes:
        return json.dumps({"subject": "a", "version": 1, "id": schema_id, "schema": '"int"', "deleted": False}).encode()

    records = [
        RawRecord(0, 1, key(1, 0), value(1)),
        RawRecord(1, 1, key(2, 0), value(2)),
        RawRecord(2, 1, key(3, 2), value(3)),
        RawRecord(3, 1, key(3, 2), None),
    ]
    source = open_recognized(rpk(tmp_path / "records", records))
    assert isinstance(source, RpkRecords)
    # Into a log, a void record would be written with another offset, or read by a registry that knows no seq.
    assert list(source.records()) == [records[0], records[2], records[3]]
    assert main(["restore", str(tmp_path / "records"), "--to", f"sqlite:///{tmp_path}/x.db"]) == 0
    with open_source(f"sqlite:///{tmp_path}/x.db", Properties()) as log:
        assert [version.schema_id for version in log.read().state.versions.values()] == [1]
    reading = source.read()
    assert {name: version.schema_id for name, version in reading.state.versions.items()} == {("a", 1): 1}
    assert reading.notes[-1].endswith("as their offset is not their seq: 1")


def test_a_console_dump_may_count_its_messages(tmp_path: Path) -> None:
    path = console("\t")(tmp_path / "dump", RECORDS)
    path.write_text(path.read_text() + f"Processed a total of {len(RECORDS)} messages\n")
    assert len(list(ConsoleDump(path).records())) == len(RECORDS)


def test_a_list_of_schemas_is_a_state_without_settings(tmp_path: Path) -> None:
    path = tmp_path / "import.json"
    schemas = [
        {"id": 9, "subject": "a", "version": 3, "schemaType": "JSON", "schema": "{}"},
        {"id": 2, "subject": ":.eu:a", "version": 1, "schema": '"int"', "references": []},
    ]
    path.write_text(json.dumps({"schemas": schemas}, indent=1))
    source = open_recognized(path)
    assert type(source) is SchemaList
    reading = source.read()
    assert {name: (one.schema_id, one.schema_type) for name, one in reading.state.versions.items()} == {
        ("a", 3): (9, "JSON"),
        (":.eu:a", 1): (2, "AVRO"),
    }
    assert reading.state.contexts == {
        ".": ContextState(listed=True, highest_id=9),
        ".eu": ContextState(listed=True, highest_id=2),
    }
    path.write_text(json.dumps({"schemas": [schemas[0], schemas[0]]}))
    with pytest.raises(Unreadable, match="a version of a subject is in it twice"):
        source.read()


@pytest.mark.parametrize("content", ["", "{}", "[]", "[1]", "a,b\n", '{"kind":"x"}\n', '{"a":1}\t{}\n', "\x00"])
def test_other_files_are_not_recognized(content: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(content)
    for other in (path, tmp_path):
        with pytest.raises(Unreadable, match=r"is of no known form, .* Karapace's backup V2, .* a console dump"):
            open_recognized(other)


@pytest.mark.parametrize("form", ["Karapace V1", "Karapace V2", "console, tab", "rpk"])
def test_a_large_file_is_read_in_pieces(form: str, tmp_path: Path) -> None:
    write, kind, _ = _FORMS[form]
    value = json.dumps({"schema": "x" * 20_000}).encode()
    records = [RawRecord(number, 0, b'{"keytype":"NOOP","magic":0}', value) for number in range(600)]
    source = kind(write(tmp_path / "file", records))
    del records
    tracemalloc.start()
    try:
        count = sum(1 for _ in source.records())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 600
    assert peak < 8 << 20, f"{peak >> 20} MiB for a file of {source.path.stat().st_size >> 20} MiB"
