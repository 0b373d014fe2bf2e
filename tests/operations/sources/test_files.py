"""Files of backups: they are read as they were written, and refused whenever a byte is missing or another."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random

import httpx
import pytest

from magicbyte.operations.backup.writing import write_logical, write_raw
from magicbyte.operations.failures import Unreadable
from magicbyte.operations.sources.files import blocks
from magicbyte.operations.sources.files.closed_lines import closing_line
from magicbyte.operations.sources.files.raw import RawFile
from magicbyte.operations.sources.opening import Properties, open_file, open_source
from magicbyte.operations.sources.port import Origin, RawRecord, Reading
from magicbyte.testing import running_registry
from tests.operations.restore.made_registry import export_of
from tests.operations.sources.samples import READING, RECORDS, Records, quiet

FORMS = ["logical.ndjson", "logical.ndjson.zst", "raw.ndjson", "raw.ndjson.zst"]


def written(folder: Path, name: str) -> Path:
    path = folder / name
    if name.startswith("raw"):
        write_raw(Records(RECORDS), path, progress=quiet)
    else:
        write_logical(READING, path, progress=quiet, more={})
    return path


@pytest.mark.parametrize("name", ["logical.ndjson", "logical.ndjson.zst"])
def test_a_logical_backup_is_read_as_it_was_written(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, name)
    with open_file(path) as source:
        reading = source.read()
    origin = Origin(str(path), "confluent", "7.9.0", 41, {"kafka": "k1"}, {"compatibilityLevel": "BACKWARD"})
    assert reading == Reading(READING.state, origin, READING.notes)


def test_an_export_of_a_mirrored_registry_is_read_without_the_mark_of_the_mirror(tmp_path: Path) -> None:
    path = tmp_path / "mirrored.ndjson"
    with running_registry() as server:
        lines = b'{"kind":"schema","subject":"a","version":1,"id":1,"schema":"\\"int\\""}\n'
        mark = b'{"kind":"mirror","context":".","epoch":1,"value":{"source":"http://a"}}'
        httpx.post(f"{server.url}/import?lines=true", content=lines + mark).raise_for_status()
        path.write_bytes(httpx.get(f"{server.url}/export").content)
        with open_source(server.url, Properties()) as source:
            state = source.read().state
    assert b'{"kind":"mirrored",' in path.read_bytes()
    with open_file(path) as file:
        assert file.read().state == state
    # It is the only kind that is passed over: no line is lost without a word.
    path.write_bytes(export_of([{"kind": "removal", "of": "schema", "subject": "a", "version": 1}]))
    with open_file(path) as file, pytest.raises(Unreadable, match="line 2 is of an unknown kind"):
        file.read()


@pytest.mark.parametrize("name", ["raw.ndjson", "raw.ndjson.zst"])
def test_a_raw_backup_is_read_as_it_was_written(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, name)
    with open_file(path) as source:
        assert isinstance(source, RawFile)
        assert list(source.records()) == RECORDS
        assert source.topic_configs() == {"cleanup.policy": "compact", "partitions": "1"}
        state = source.read().state
    assert [(key, version.schema_id) for key, version in state.versions.items()] == [(("a", 1), 1)]


@pytest.mark.parametrize("name", ["logical.ndjson.zst", "raw.ndjson.zst"])
def test_zstd_reads_a_compressed_backup(name: str, tmp_path: Path) -> None:
    packed, plain = written(tmp_path, name), written(tmp_path, name.removesuffix(".zst"))
    unpacked = subprocess.run(["zstd", "-dc", packed], capture_output=True, check=True).stdout
    # The manifests differ in the time at which they were begun.
    assert unpacked.splitlines()[1:-1] == plain.read_bytes().splitlines()[1:-1]


@pytest.mark.parametrize("name", FORMS)
def test_a_file_that_is_cut_or_changed_is_refused(name: str, tmp_path: Path) -> None:
    attack(written(tmp_path, name), tmp_path / "attacked", tries=60)


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMS)
def test_a_file_that_is_cut_or_changed_anywhere_is_refused(name: str, tmp_path: Path) -> None:
    attack(written(tmp_path, name), tmp_path / "attacked", tries=1000)


def attack(path: Path, attacked: Path, *, tries: int) -> None:
    """Cut a file at random bytes, and flip a random bit of random bytes; each time it must be refused."""
    content, random = path.read_bytes(), Random(7)
    last = len(content) - 1
    for place in [0, 1, last - 1, last, *(random.randrange(len(content)) for _ in range(tries))]:
        flipped = bytearray(content)
        flipped[place] ^= 1 << random.randrange(8)
        for bad in (content[:place], bytes(flipped)):
            attacked.write_bytes(bad)
            with pytest.raises(Unreadable, match="attacked"), open_file(attacked) as source:
                source.read()
            assert used_records(attacked) == []


def used_records(path: Path) -> list[RawRecord]:
    """The records that a raw file yields before it is refused."""
    used: list[RawRecord] = []
    try:
        with open_file(path) as source:
            if isinstance(source, RawFile):
                used.extend(source.records())
    except Unreadable:
        pass
    return used


def _again(content: bytes, change: Callable[[list[bytes]], list[bytes]]) -> bytes:
    """The file with other lines, and a closing line that fits them."""
    lines = change(content.splitlines(keepends=True)[:-1])
    return b"".join(lines) + closing_line(len(lines), hashlib.sha256(b"".join(lines)).hexdigest())


@pytest.mark.parametrize(
    ("name", "change", "fault"),
    [
        ("logical.ndjson", lambda lines: lines[:-1], "its manifest counts"),
        ("logical.ndjson", lambda lines: [*lines, lines[-1]], "its manifest counts"),
        ("logical.ndjson", lambda lines: [lines[0].replace(b'"format":2', b'"format":3'), *lines[1:]], "of format 3"),
        ("logical.ndjson", lambda lines: [*lines, b'{"kind":"rule"}\n'], "of an unknown kind"),
        ("logical.ndjson", lambda lines: [*lines, b"[]\n"], "is not an object"),
        ("logical.ndjson", lambda lines: [*lines, b"{\n"], "is not JSON"),
        ("logical.ndjson", lambda lines: [line.replace(b'\\"int\\"', b'\\"long\\"') for line in lines], "its guid"),
        ("raw.ndjson", lambda lines: [*lines, lines[-1]], "comes after"),
        ("raw.ndjson", lambda lines: [*lines, b'{"o":99}\n'], "is no record"),
        ("raw.ndjson", lambda lines: [*lines, b'{"o":99,"t":1,"k":null,"v":null,"x":1}\n'], "is no record"),
        ("raw.ndjson", lambda lines: [lines[0].replace(b"raw-1", b"raw-2"), *lines[1:]], "of format 'raw-2'"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(
    name: str, change: Callable[[list[bytes]], list[bytes]], fault: str, tmp_path: Path
) -> None:
    path = written(tmp_path, name)
    path.write_bytes(_again(path.read_bytes(), change))
    with pytest.raises(Unreadable, match=fault), open_file(path) as source:
        source.read()
    assert used_records(path) == []


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda content: content + b"\n", "after the closing line"),
        (lambda content: content[:-1], "the closing line is cut"),
        (lambda content: content.rsplit(b'{"kind":"end"')[0], "the closing line is missing"),
        (lambda content: content.replace(b"\n", b"\r\n"), "SHA-256"),
        (lambda _: b"", "of no known form"),
        (lambda _: b"hello\n", "of no known form"),
    ],
)
def test_the_error_names_the_fault_of_a_file(change: Callable[[bytes], bytes], fault: str, tmp_path: Path) -> None:
    path = written(tmp_path, "logical.ndjson")
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(Unreadable, match=fault):
        open_file(path).read()


def test_a_file_that_another_tool_compressed_is_refused_with_the_remedy(tmp_path: Path) -> None:
    path = written(tmp_path, "logical.ndjson")
    subprocess.run(["zstd", "-q", path], check=True)
    with pytest.raises(Unreadable, match="zstd -d"):
        open_file(path.with_name(f"{path.name}.zst"))


def test_content_longer_than_a_block_keeps_its_bytes(tmp_path: Path) -> None:
    content = Random(3).randbytes(blocks.BLOCK_BYTES)
    path = tmp_path / "blocks"
    path.write_bytes(blocks.packed(content) + blocks.packed(content[:5]))
    with path.open("rb") as file:
        assert b"".join(blocks.unpacked(file)) == content + content[:5]


def test_a_long_raw_backup_is_read_in_blocks(tmp_path: Path) -> None:
    records = [RawRecord(number, 1, b"%d" % number, Random(number).randbytes(40_000)) for number in range(100)]
    path = tmp_path / "long.zst"
    write_raw(Records(records), path, progress=quiet)
    assert list(RawFile(path).records()) == records
