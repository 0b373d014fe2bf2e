"""SQLite databases that lose what was acknowledged: that is said, and no id is given again."""

from __future__ import annotations

import json
import logging
import os
import random
import shutil
import sqlite3
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from magicbyte.platform.server_process import ServerFailed
from magicbyte.testing import running_registry
from registry.cluster.reserved_ids import ReservedIds
from registry.log.port import LogError
from registry.log.sqlite_wal import Damage, find_damage
from registry.state.view import View

#: Each test starts nodes of its own.
pytestmark = pytest.mark.slow

HEADER, FRAME, PAGE = 32, 24, 4096


def schema(number: int) -> str:
    return json.dumps({"type": "record", "name": f"R{number}", "fields": []})


def register(url: str, subject: str, number: int) -> int:
    answer = httpx.post(f"{url}/subjects/{subject}/versions", json={"schema": schema(number)}, timeout=30)
    assert answer.status_code == 200, answer.text
    return int(answer.json()["id"])


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a registry that was killed after it had acknowledged 60 schemas, all in the write-ahead log."""
    folder = tmp_path_factory.mktemp("killed")
    with running_registry(f"sqlite:///{folder}/schemas.db") as server:
        for number in range(1, 51):
            assert register(server.url, f"s{number}", number) == number
        for number in range(1, 11):
            assert register(server.url, f":.named:s{number}", number) == number
        server.kill()
    return folder


@pytest.fixture
def folder(killed: Path, tmp_path: Path) -> Path:
    """A copy of that folder."""
    copy = tmp_path / "copy"
    shutil.copytree(killed, copy)
    return copy


def flip(wal: Path, place: int) -> None:
    content = bytearray(wal.read_bytes())
    content[place] ^= 0x10
    wal.write_bytes(content)


def remove_wal(folder: Path) -> None:
    (folder / "schemas.db-wal").unlink()


def cut_wal(folder: Path) -> None:
    os.truncate(folder / "schemas.db-wal", 30 * (FRAME + PAGE))


def damage_last_frame(folder: Path) -> None:
    wal = folder / "schemas.db-wal"
    flip(wal, wal.stat().st_size - 100)


def damage_middle(folder: Path) -> None:
    flip(folder / "schemas.db-wal", HEADER + 40 * (FRAME + PAGE) + 1000)


def damage_header(folder: Path) -> None:
    flip(folder / "schemas.db-wal", 9)


def restore_empty(folder: Path) -> None:
    for name in ("schemas.db", "schemas.db-wal", "schemas.db-shm"):
        (folder / name).unlink(missing_ok=True)


LOSSES = [remove_wal, cut_wal, damage_last_frame, damage_middle, damage_header, restore_empty]


@pytest.mark.parametrize("lose", LOSSES, ids=lambda lose: lose.__name__)
def test_no_loss_makes_the_registry_give_an_id_twice(folder: Path, lose: Any) -> None:
    lose(folder)
    properties = {"magicbyte.storage.accept.damage": "true"}
    with running_registry(f"sqlite:///{folder}/schemas.db", properties=properties) as server:
        assert register(server.url, "new", 1000) == 51
        assert register(server.url, ":.named:new", 1001) == 11
        texts = {
            schema_id: httpx.get(f"{server.url}/schemas/ids/{schema_id}").json().get("schema")
            for schema_id in range(1, 51)
        }
        assert all(
            text in (None, json.dumps(json.loads(schema(number)), separators=(",", ":")))
            for number, text in texts.items()
        )
        if lose is not damage_last_frame:
            assert any("the database has lost schemas" in line for line in server.last_lines(500))


@pytest.mark.parametrize(("lose", "place"), [(damage_middle, HEADER + 40 * (FRAME + PAGE)), (damage_header, 0)])
def test_a_damaged_write_ahead_log_needs_a_setting_to_be_accepted(folder: Path, lose: Any, place: int) -> None:
    lose(folder)
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".db-shm"}
    with pytest.raises(ServerFailed) as failure, running_registry(f"sqlite:///{folder}/schemas.db"):
        pass
    for part in (f"schemas.db-wal is damaged at byte {place}: ", "magicbyte.storage.accept.damage=true"):
        assert part in "".join(failure.value.last_lines)
    # Nothing was changed by the attempt.
    assert {name: (folder / name).read_bytes() for name in files} == files
    storage, properties = f"sqlite:///{folder}/schemas.db", {"magicbyte.storage.accept.damage": "true"}
    with running_registry(storage, properties=properties) as server:
        server.kill()
    (copy,) = folder.glob("schemas.db-wal.damaged-*")
    assert copy.read_bytes() == files["schemas.db-wal"]
    # It is said once.
    with running_registry(storage):
        pass


def test_a_node_that_was_killed_goes_on_without_a_gap(folder: Path) -> None:
    with running_registry(f"sqlite:///{folder}/schemas.db") as server:
        assert register(server.url, "new", 1000) == 51
        assert not any("lost schemas" in line for line in server.last_lines(500))


def test_an_older_copy_of_the_database_gives_no_id_again(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path}/schemas.db"
    with running_registry(storage) as server:
        assert register(server.url, "a", 1) == 1
    shutil.copy(tmp_path / "schemas.db", tmp_path / "backup")
    with running_registry(storage) as server:
        assert register(server.url, "b", 2) == 2
    shutil.copy(tmp_path / "backup", tmp_path / "schemas.db")
    with running_registry(storage) as server:
        assert register(server.url, "c", 3) == 3
        assert httpx.get(f"{server.url}/schemas/ids/2").status_code == 404


# The write-ahead log


@pytest.fixture
def wal(tmp_path: Path) -> Iterator[Path]:
    """A write-ahead log of ten transactions of one frame or more, as a killed process leaves it."""
    database = tmp_path / "open.db"
    connection = sqlite3.connect(database, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("CREATE TABLE t(x)")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for number in range(10):
        connection.execute("INSERT INTO t VALUES (?)", (f"{number}" * 10,))
    copy = tmp_path / "copy.db-wal"
    shutil.copy(f"{database}-wal", copy)
    yield copy
    connection.close()


def frame(number: int) -> int:
    return HEADER + number * (FRAME + PAGE)


def test_the_log_of_a_killed_process_is_whole(wal: Path) -> None:
    assert wal.stat().st_size == frame(10)
    assert find_damage(wal) is None
    assert find_damage(wal.with_name("missing")) is None


@pytest.mark.parametrize("number", range(10))
@pytest.mark.parametrize("inside", [0, 4, 8, 16, FRAME, FRAME + PAGE - 1])
def test_the_check_finds_a_bad_frame_before_a_commit(wal: Path, number: int, inside: int) -> None:
    flip(wal, frame(number) + inside)
    # If the checksum itself is bad, the next frame's is, too: it continues it.
    behind = 9 - number - (inside == 16)
    assert find_damage(wal) == (Damage(frame(number), behind) if behind > 0 else None)


def test_the_check_finds_damage_of_the_header(wal: Path) -> None:
    whole = wal.read_bytes()
    for place in (0, 9, 17, 25):
        wal.write_bytes(whole)
        flip(wal, place)
        assert find_damage(wal) == Damage(0, 9), place


@pytest.mark.parametrize("size", [0, 10, HEADER, HEADER + 10, frame(1), frame(5) + 2000])
def test_a_log_that_ends_early_is_not_damaged(wal: Path, size: int) -> None:
    os.truncate(wal, size)
    assert find_damage(wal) is None


def test_zeros_behind_the_end_or_instead_of_the_header_are_no_damage(wal: Path) -> None:
    whole = wal.read_bytes()
    wal.write_bytes(whole + bytes(5 * (FRAME + PAGE)))
    assert find_damage(wal) is None
    wal.write_bytes(bytes(len(whole)))
    assert find_damage(wal) is None


@pytest.mark.parametrize(("size", "behind"), [(100, 8), (frame(1), 8), (frame(7), 2), (frame(8), 1), (frame(9), 0)])
def test_zeros_instead_of_the_first_frames_are_damage(wal: Path, size: int, behind: int) -> None:
    wal.write_bytes(bytes(size) + wal.read_bytes()[size:])
    assert find_damage(wal) == (Damage(0, behind) if behind else None)


def test_frames_of_an_earlier_use_are_no_damage(wal: Path, tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "open.db", isolation_level=None)
    connection.execute("PRAGMA wal_checkpoint(RESTART)")
    connection.execute("INSERT INTO t VALUES ('x')")
    content = (tmp_path / "open.db-wal").read_bytes()
    connection.close()
    assert len(content) == frame(10)
    assert content[frame(5) :] == wal.read_bytes()[frame(5) :]
    wal.write_bytes(content)
    assert find_damage(wal) is None


def test_frames_of_a_transaction_that_was_not_committed_are_no_damage(wal: Path) -> None:
    content = bytearray(wal.read_bytes())
    # As a killed writer leaves them: valid, but without the mark of a commit, behind the last commit.
    content = content[: frame(2)] + _not_committed(bytes(content), 5)[frame(5) : frame(10)]
    wal.write_bytes(content)
    assert find_damage(wal) is None


def _not_committed(content: bytes, first: int) -> bytes:
    """The content with the frames from one on marked as no commits, and with checksums that continue each other."""
    changed = bytearray(content)
    order = ">" if content[3] & 1 else "<"
    sums = struct.unpack_from(">II", content, frame(first - 1) + 16)
    for number in range(first, 10):
        place = frame(number)
        struct.pack_into(">I", changed, place + 4, 0)
        covered = bytes(changed[place : place + 8] + changed[place + FRAME : place + FRAME + PAGE])
        one, two = sums
        for index in range(0, len(covered), 8):
            low, high = struct.unpack_from(f"{order}II", covered, index)
            one = (one + low + two) % 2**32
            two = (two + high + one) % 2**32
        sums = one, two
        struct.pack_into(">II", changed, place + 16, *sums)
    return bytes(changed)


# The file of reserved ids


def ids_in(path: Path) -> dict[str, int]:
    """The ids that a registry that starts now regards as given."""
    ids = ReservedIds(path)
    ids._lock(0x08)  # LOCK_UN: the process is gone
    os.close(ids._file)
    return ids.given_before


@pytest.mark.parametrize(
    ("given", "is_closed", "rebooted", "expected"),
    [
        ([1, 2, 15], False, False, 15),
        ([1, 2, 15], True, False, 15),
        ([1, 2, 15], True, True, 15),
        # What was not synced may be lost with the machine's power.
        ([1, 2, 15], False, True, 1000),
        ([1000], False, True, 1000),
        ([1001], False, True, 2000),
        ([2**31 - 1], False, True, 2**31 - 1),
    ],
)
def test_a_file_contains_the_highest_given_ids(
    tmp_path: Path, given: list[int], is_closed: bool, rebooted: bool, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = ReservedIds(tmp_path / "ids")
    for last in given:
        ids.cover({".": last})
    if is_closed:
        ids.close()
    else:
        os.close(ids._file)
    if rebooted:
        monkeypatch.setattr("registry.cluster.reserved_ids._boot_id", lambda: "another")
    assert ids_in(tmp_path / "ids") == {".": expected}
    # Whoever starts after that knows the same.
    assert ids_in(tmp_path / "ids") == {".": expected}


def test_a_block_is_in_the_file_before_its_first_id_is_given(tmp_path: Path) -> None:
    ids = ReservedIds(tmp_path / "ids")
    ids.cover({".": 1, ".a": 1001})
    lines = [json.loads(line) for line in (tmp_path / "ids").read_bytes().splitlines() if line]
    assert lines[1:] == [{"reserved": {".": 1000, ".a": 2000}}, {"given": {".": 1, ".a": 1001}}]
    size = (tmp_path / "ids").stat().st_size
    ids.cover({".": 1, ".a": 900})
    assert (tmp_path / "ids").stat().st_size == size
    ids.close()


def test_a_line_that_was_cut_counts_as_lost_with_what_follows(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "ids"
    ids = ReservedIds(path)
    ids.cover({".": 7})
    os.close(ids._file)
    path.write_bytes(path.read_bytes()[:-3])
    with caplog.at_level(logging.WARNING):
        assert ids_in(path) == {".": 1000}
    assert "can't be read" in caplog.text


def test_processes_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "ids"
    first, second = ReservedIds(path), ReservedIds(path)
    numbers = list(range(1, 2001))
    random.Random(1).shuffle(numbers)
    for number in numbers:
        (first if number % 2 else second).cover({".": number})
    first.close()
    # The file is not shortened, or declared closed, while another process has it open.
    assert b"closed" not in path.read_bytes()
    third = ReservedIds(path)
    assert third.given_before == {".": 2000}
    for ids in (second, third):
        os.close(ids._file)
    assert ids_in(path) == {".": 2000}
    assert path.stat().st_size < 200


def test_a_subject_may_have_the_name_of_an_id_mark(tmp_path: Path) -> None:
    subject = "MAGICBYTE_ID_MARK"
    with running_registry(f"sqlite:///{tmp_path}/schemas.db") as server:
        assert register(server.url, subject, 1) == 1
        answer = httpx.put(f"{server.url}/config/{subject}", json={"compatibility": "FULL"})
        assert (answer.status_code, answer.json()) == (200, {"compatibility": "FULL"})
        assert httpx.delete(f"{server.url}/subjects/{subject}").json() == [1]
        assert httpx.delete(f"{server.url}/subjects/{subject}?permanent=true").json() == [1]
        assert register(server.url, "next", 2) == 2


def test_ids_that_cannot_be_reserved_are_not_given(tmp_path: Path) -> None:
    ids = ReservedIds(tmp_path / "ids")
    os.close(ids._file)
    with pytest.raises(LogError, match=r"ids can't be reserved in .*/ids: "):
        ids.cover({".": 1})
    with pytest.raises(LogError, match=r"the ids in .*/missing/ids can't be reserved: "):
        ReservedIds(tmp_path / "missing" / "ids")


def test_the_registry_marks_only_ids_that_the_database_lacks(tmp_path: Path) -> None:
    ids = ReservedIds(tmp_path / "ids")
    assert ids.mark_lost(View(), 0).records == ()
    ids.given_before = {".": 3, ".a": 2}
    marks = ids.mark_lost(View(), 5).records
    assert [(mark.value, mark.timestamp) for mark in marks] == [
        (b'{"context":".","maxId":3}', 5),
        (b'{"context":".a","maxId":2}', 5),
    ]
    ids.close()
