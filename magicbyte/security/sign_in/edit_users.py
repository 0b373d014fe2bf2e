"""Edits a users file: changes are made one at a time, and never leave a half-written file."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from magicbyte.kit.failure import Failure
from magicbyte.kit.whole_file import write_whole
from magicbyte.security.sign_in.users import check_name, parse_options, parse_user, read_lines


@dataclass
class Line:
    """The parts of a user's line."""

    name: str
    hash: str
    options: dict[str, str]

    def __str__(self) -> str:
        options = ";".join(key if value == "true" else f"{key}={value}" for key, value in self.options.items() if value)
        return f"{self.name}:{self.hash}" + (f":{options}" if options else "")


class UsersFile:
    """The lines of a users file during a change; comments keep their places."""

    def __init__(self, path: Path, lines: list[str]) -> None:
        self.path = path
        self._lines = lines

    def users(self) -> list[Line]:
        """The users, in the order of the file."""
        return [self._parse(line) for line in self._lines if _is_user(line)]

    def user(self, name: str) -> Line:
        """Return one user.

        Raises:
            Failure: There is no such user.
        """
        for line in self.users():
            if line.name == name:
                return line
        raise Failure(f"{self.path} has no user {name}")

    def add(self, line: Line) -> None:
        """Add a user.

        Raises:
            Failure: The user exists already, or a part of the line is invalid.
        """
        if any(user.name == line.name for user in self.users()):
            raise Failure(f"{self.path} has a user {line.name} already")
        self._lines.append(_checked(line))

    def replace(self, line: Line) -> None:
        """Replace the user of that name by a changed one."""
        self._lines = [
            _checked(line) if _is_user(old) and self._parse(old).name == line.name else old for old in self._lines
        ]

    def remove(self, name: str) -> None:
        """Remove a user.

        Raises:
            Failure: There is no such user.
        """
        self.user(name)
        self._lines = [line for line in self._lines if not (_is_user(line) and self._parse(line).name == name)]

    @property
    def text(self) -> str:
        """The new text of the file."""
        return "".join(f"{line}\n" for line in self._lines)

    def _parse(self, line: str) -> Line:
        name, _, rest = line.strip().partition(":")
        hash_text, _, options = rest.partition(":")
        try:
            return Line(name, hash_text, parse_options(name, options))
        except ValueError as error:
            raise Failure(f"{self.path}: {error}") from None


def open_users(path: Path) -> UsersFile:
    """Open a users file for reading.

    Raises:
        Failure: It cannot be read.
    """
    return UsersFile(path, read_lines(path))


@contextmanager
def changing(path: Path) -> Iterator[UsersFile]:
    """Open a users file for a change, which is written if the block ends without an error.

    Other commands that change a file in the same folder wait. The new file has mode 0600 and replaces the old one
    in one step.

    Raises:
        Failure: The file cannot be read or written.
    """
    try:
        folder = os.open(path.parent, os.O_RDONLY)
    except OSError as error:
        raise Failure(f"{path.parent} cannot be opened: {error.strerror}") from None
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        users = UsersFile(path, read_lines(path) if path.exists() else [])
        yield users
        try:
            write_whole(path, (users.text or "# no users\n").encode(), mode=0o600)
        except OSError as error:
            raise Failure(f"{path} cannot be written: {error.strerror}") from None
    finally:
        os.close(folder)


def _is_user(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("#")


def _checked(line: Line) -> str:
    text = str(line)
    try:
        check_name(line.name)
        parse_user(text)
    except ValueError as error:
        raise Failure(str(error)) from None
    return text
