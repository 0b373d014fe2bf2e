"""Files that another person may have chosen are read up to a size, and links out of their folder are refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from magicbyte.kit.bounded_file import FileRefused, read_bounded


def test_a_file_of_the_longest_size_is_read(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"12345")
    assert read_bounded(file, most=5) == b"12345"
    assert read_bounded(file, most=4, cut=True) == b"1234"
    with pytest.raises(FileRefused, match="has more than 4 bytes"):
        read_bounded(file, most=4)


def test_devices_pipes_and_folders_are_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    device = tmp_path / "device"
    device.symlink_to("/dev/zero")
    for path in (pipe, device, tmp_path):
        with pytest.raises(FileRefused, match="is no regular file"):
            read_bounded(path)


def test_links_may_not_lead_out_of_a_folder(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "folder"
    folder.mkdir()
    outside.write_bytes(b"secret")
    (folder / "inner").write_bytes(b"inner")
    (folder / "to-inner").symlink_to("inner")
    (folder / "to-outside").symlink_to("../outside")
    (folder / "up").symlink_to("..")
    assert read_bounded(folder / "to-inner", inside=folder) == b"inner"
    for name in ("to-outside", "up/outside"):
        with pytest.raises(FileRefused, match="is a link to a file outside of"):
            read_bounded(folder / name, inside=folder)
    (folder / "loop").symlink_to("loop")
    with pytest.raises(OSError, match="Too many levels of symbolic links"):
        read_bounded(folder / "loop", inside=folder)
    # A path that is outside without links is the user's own choice.
    assert read_bounded(outside, inside=folder) == b"secret"
