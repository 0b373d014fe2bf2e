"""An anonymous reading does not tell where it was read, and a key that is missing or short is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from magicbyte.kit.failure import Failure
from magicbyte.operations.anonymize.reading import anonymous_reading, read_key
from magicbyte.operations.sources.port import Origin, Reading
from magicbyte.operations.state import State

_LINES = [{"kind": "schema", "subject": "secret", "version": 1, "id": 1, "schema": '"int"'}]


def test_the_source_is_not_named() -> None:
    origin = Origin("http://secret:8081", "karapace", "6.2", 9, {"kafka": "secret"}, {"compatibilityLevel": "FULL"})
    reading = anonymous_reading(Reading(State.of_lines(_LINES), origin, ("secret has no id",)), b"0123456789abcdef")
    assert reading.origin == Origin("anonymous", "karapace", "6.2", 9, {}, {"compatibilityLevel": "FULL"})
    assert "secret" not in f"{reading.notes} {list(reading.state.lines())}"


def test_line_breaks_behind_a_key_do_not_count(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_bytes(b"0123456789abcdef\r\n")
    assert read_key(file) == b"0123456789abcdef"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "there is no key file .*; make one with: openssl rand -hex 32 > "),
        (b"0123456789abcde\n", "has 15 bytes; a key has 16 to 4096; make one"),
        (b"x" * 5000, "has 4097 bytes; a key has 16 to 4096"),
    ],
)
def test_a_file_that_is_no_key_is_refused(content: bytes | None, told: str, tmp_path: Path) -> None:
    file = tmp_path / "key"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(Failure, match=told):
        read_key(file)
    with pytest.raises(Failure, match="cannot be read: Is a directory"):
        read_key(tmp_path)
