"""Commands whose stdout cannot be written, or whose reader has left."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from confluent_kafka import Producer

from serdes.letters.headers import DeadLetter

MAGICBYTE = [sys.executable, "-P", "-m", "magicbyte.cli.main"]
FULL = "stdout cannot be written: No space left on device\n"


def run(*arguments: str, redirect: str = "/dev/full") -> subprocess.CompletedProcess[str]:
    with Path(redirect).open("wb") as stdout:
        return subprocess.run(
            [*MAGICBYTE, *arguments], stdout=stdout, stderr=subprocess.PIPE, text=True, check=False, timeout=60
        )


@pytest.fixture
def letters(kafka: str, topic: str) -> str:
    """A topic with dead letters, whose listing is longer than a buffer of stdout."""
    producer = Producer({"bootstrap.servers": kafka})
    for offset in range(100):
        letter = DeadLetter("orders", 0, offset, stage="VALUE_CONVERTER", message=f"{chr(65 + offset % 50)} " * 30)
        producer.produce(topic, b"x", headers=letter.headers())
    assert producer.flush(20) == 0
    return topic


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("ids", ["{}", "--schema-registry-url", "none"]),
        # Longer than a buffer: a write fails, and not the flush at the end.
        ("ids", [*["{}"] * 40, "--schema-registry-url", "none", "--output", "json"]),
        ("dead-letter", ["list", "{}"]),
        ("dead-letter", ["list", "{}", "--output", "json"]),
        ("dead-letter", ["show", "{}", "--at", "0:3"]),
        ("consume", ["{}", "--last", "1", "--value-format", "string"]),
        ("consume", ["{}", "--until-end", "--value-format", "string"]),
        ("topics", ["list"]),
        ("topics", ["describe", *["{}"], "--output", "json"]),
        ("groups", ["reset", "g", "--topic", "{}", "--to-latest"]),
    ],
)
def test_a_full_disk_is_one_line(kafka: str, letters: str, command: str, arguments: list[str]):
    done = run(command, *(word.format(letters) for word in arguments), "--bootstrap-server", kafka)
    assert done.returncode == 3
    assert done.stderr in {f"magicbyte: {FULL}", f"magicbyte {command}: {FULL}"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["ids", "--help"],
        ["topics", "create", "--help"],
        # Longer than a buffer.
        ["settings-schema", "registry"],
        ["check", "--against", "none", "--format", "json"],
    ],
)
def test_every_command_reports_an_unwritable_stdout(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.avsc").write_text('{"type": "record", "name": "A", "fields": []}')
    done = run(*arguments)
    assert (done.returncode, done.stderr) == (3, f"magicbyte: {FULL}")


@pytest.mark.parametrize("arguments", [["--help"], ["settings-schema", "registry"]])
def test_a_closed_stdout_discards_the_output(arguments: list[str]):
    command = ["/bin/sh", "-c", 'exec "$@" >&-', "sh", *MAGICBYTE, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_an_error_of_another_file_does_not_count_as_an_error_of_stdout(tmp_path: Path):
    # stdout can be written; only the file cannot.
    done = run("download", "--config", str(tmp_path), redirect="/dev/null")
    assert done.returncode != 0
    assert "stdout" not in done.stderr


def test_a_reader_that_leaves_after_the_last_line_is_no_error():
    command = ["/bin/sh", "-c", '"$@" | true; echo', "sh", *MAGICBYTE, "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.stderr == ""
