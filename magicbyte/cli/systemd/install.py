"""`install`: writes units, and settings for a server that has none."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from magicbyte.cli.systemd.unit_text import installed_program
from magicbyte.cli.systemd.units import hidden_place, settings_of, unit_name, unit_of
from magicbyte.kit.failure import Failure
from magicbyte.kit.whole_file import write_whole
from serdes.console.outcome import BAD_USAGE, Ended

#: The first words of our units, as `install` writes them.
_OURS = "# /etc/systemd/system/"


def install(options: argparse.Namespace) -> int:
    """Write the units; returns the exit code."""
    root = options.root.absolute()
    program = installed_program()
    if root != Path("/") and Path(program[0]).is_relative_to(root):
        # The command of an image that is mounted there.
        program[0] = f"/{Path(program[0]).relative_to(root)}"
    hidden = hidden_place(program[0], *([sys.base_prefix] if root == Path("/") else []))
    if hidden:
        raise Ended(
            BAD_USAGE,
            f"a unit does not see {hidden}, which this command needs: install Magicbyte elsewhere, such as with "
            "`/usr/bin/python3 -m venv /opt/magicbyte`",
        )
    if not root.is_dir():
        raise Ended(BAD_USAGE, f"--root {options.root}: there is no such folder")
    units, settings = root / "etc/systemd/system", root / "etc/magicbyte"
    # Before anything is written.
    texts = {server: unit_of(server, program) for server in dict.fromkeys(options.servers)}
    for server in texts:
        _require_ours(units / unit_name(server))
    try:
        units.mkdir(parents=True, exist_ok=True)
        settings.mkdir(parents=True, exist_ok=True)
        for server, text in texts.items():
            _write_unit(units / unit_name(server), text)
            _write_settings(settings / f"{server}.properties", settings_of(server))
    except OSError as error:
        raise Failure(f"{error.filename} cannot be written: {error.strerror}") from None
    names = " ".join(map(unit_name, texts))
    print(f"next: edit the settings, then `systemctl daemon-reload` and `systemctl enable --now {names}`")
    return 0


def _require_ours(unit: Path) -> None:
    """Check that a unit may be written.

    Raises:
        Failure: There is one that this command has not written.
    """
    try:
        is_foreign = not unit.read_text(encoding="utf-8", errors="replace").startswith(_OURS)
    except FileNotFoundError:
        return
    except OSError as error:
        raise Failure(f"{unit} cannot be read: {error.strerror}") from None
    if is_foreign:
        raise Failure(f"{unit} was not written by this command; move it away, or change it by `systemctl edit`")


def _write_unit(path: Path, text: str) -> None:
    before = path.read_text(encoding="utf-8", errors="replace") if path.exists() else None
    if before == text:
        print(f"{path}: unchanged")
        return
    write_whole(path, text.encode())
    path.chmod(0o644)
    print(f"{path}: {'written' if before is None else 'replaced'}")


def _write_settings(path: Path, text: str) -> None:
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:  # noqa: PTH123  the mode
            file.write(text)
    except FileExistsError:
        print(f"{path}: kept")
        return
    print(f"{path}: written")
